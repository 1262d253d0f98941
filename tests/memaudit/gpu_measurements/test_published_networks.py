"""Networks of published shapes: the counted operations are PyTorch's, the weights are the seed's, contexts matter."""

import pytest
import torch
from tabpfn.architectures.shared import scaled_dot_product_attention
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from memaudit.gpu_measurements.published_networks import NETWORKS, build


def random_table(context, queries, columns):
    x = torch.randn(1, context + queries, columns, generator=torch.Generator().manual_seed(1))
    return x[:, :context], (x[:, :context, 0] > 0).long(), x[:, context:]


@pytest.mark.parametrize("network", NETWORKS)
def test_the_formula_counts_what_the_module_does(network, monkeypatch):
    """Networks that scale the softmax, embeddings and the decoder are left out: a few per cent at published size."""
    monkeypatch.setattr(scaled_dot_product_attention, "_SDPA_BACKENDS", [SDPBackend.MATH])
    built = build(network, "cpu")
    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
        built.network.logits(*random_table(60, 100, 7))
    assert 0.95 * counter.get_total_flops() < built.operations(60, 100, 7) <= counter.get_total_flops()


@pytest.mark.parametrize("network", NETWORKS)
def test_the_published_shapes_have_the_published_sizes(network):
    millions = {"tabicl_v1": 27.1, "tabicl_v2": 27.6, "tabpfn_v2": 7.2, "tabpfn_v2_6": 10.7, "tabpfn_v3": 53.0}
    assert build(network, "cpu").parameters / 1e6 == pytest.approx(millions[network], abs=0.05)


@pytest.mark.parametrize("network", NETWORKS)
def test_weights_are_a_function_of_the_seed_and_answers_of_the_context(network):
    context_x, context_y, query_x = random_table(40, 20, 4)
    first, same, other = (build(network, "cpu", small=True, seed=seed).network for seed in (0, 0, 1))
    with torch.inference_mode():
        answers = [model.logits(context_x, context_y, query_x)[..., :2] for model in (first, same, other)]
        flipped = first.logits(context_x, 1 - context_y, query_x)[..., :2]
    assert torch.equal(answers[0], answers[1])
    assert not torch.allclose(answers[0], answers[2])
    assert not torch.allclose(answers[0], flipped, atol=1e-3)


def test_building_a_network_leaves_the_callers_stream_alone():
    torch.manual_seed(3)
    expected = torch.rand(1)
    torch.manual_seed(3)
    build("tabicl_v2", "cpu", small=True)
    assert torch.equal(torch.rand(1), expected)
