"""The closed formula against PyTorch's own counter on the package's module."""

import json

import pytest
import torch
from tabicl._model.tabicl import TabICL
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from memaudit.models import flops


def shipped(project):
    card = project / "resources/tabicl-small/model.json"
    return json.loads(card.read_text(encoding="utf-8"))["settings"]["architecture"]


@pytest.mark.parametrize(("context", "queries", "columns"), [(150, 100, 4), (60, 200, 21)])
@pytest.mark.parametrize("model", ["shipped", "package defaults"])
def test_the_formula_counts_what_the_module_does(project, model, context, queries, columns):
    architecture = shipped(project) if model == "shipped" else {}
    module = TabICL(**architecture).train()
    labels = torch.arange(context).remainder(2)[None].float()
    # The fused kernel of the CPU is unknown to the counter.
    with torch.device("cpu"), sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
        module(torch.randn(1, context + queries, columns), labels)
    counted = counter.get_total_flops()
    assert 0.88 * counted < flops.tabicl(context, queries, columns, **architecture) <= counted
