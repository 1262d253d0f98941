"""Low-rank adapters: in the forward pass, merged exactly, and refused where no layer is wide enough."""

from dataclasses import replace

import pytest
import torch
from small_networks import TASKS, Tiny
from small_tabicl import tabicl
from torch import nn

from memaudit.common.errors import AuditError
from memaudit.models.lora import Adapter, adapt, merge, targets


def test_a_rank_that_no_layer_exceeds_is_refused():
    with pytest.raises(AuditError, match="rank 64"):
        adapt(Tiny().module, Adapter(rank=64), 0)


def table_for(model):
    return TASKS["wine"] if model.task == "classification" else replace(TASKS["wine"], y=TASKS["wine"].x.sum(1))


def answers(model):
    table = table_for(model)
    return model.forward(table.x[:20][None], table.y[:20][None], table.x[20:][None])


def test_every_adapter_of_tabicl_is_in_the_forward_pass():
    model = tabicl("classification")
    linear, packed = targets(model.module, 2)
    adapt(model.module, Adapter(rank=2), 0)
    answers(model).square().sum().backward()
    trainable = {name: weight for name, weight in model.module.named_parameters() if weight.requires_grad}
    assert len(trainable) == 2 * (len(linear) + len(packed))
    assert all(weight.grad.any() for name, weight in trainable.items() if "lora_B" in name)
    # Attention (queries, keys, values), both layers behind it, and the decoder, in all three stages.
    assert {name.split(".")[0] for name in packed} == {"col_embedder", "row_interactor", "icl_predictor"}
    assert {"icl_predictor.decoder.0", "row_interactor.tf_row.blocks.0.linear1"} <= set(linear)
    assert not any("y_encoder" in name or "in_linear" in name or "out_proj" in name for name in linear)


@pytest.mark.parametrize("kind", ["classification", "regression"])
def test_merged_adapters_answer_as_the_adapted_module(kind):
    model = tabicl(kind)
    names = set(model.module.state_dict())
    adapt(model.module, Adapter(rank=2), 0)
    for name, weight in model.module.named_parameters():
        if "lora_B" in name:
            nn.init.normal_(weight, std=0.1)
    adapted = answers(model)
    merge(model.module)
    assert set(model.module.state_dict()) == names
    torch.testing.assert_close(answers(model), adapted, atol=1e-5, rtol=1e-4)
    assert (adapted - answers(tabicl(kind))).abs().max() > 1e-2
