"""Weights and operations of language models against the modules of transformers and PyTorch's own counter."""

import pytest
import torch
import yaml
from conftest import PROJECT
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from memaudit.models.language_model_costs import layers, memory_bytes, operations, states, weights
from memaudit.models.language_models import build


def met(module):
    """Weights of matrices that a token meets: all but an embedding that is looked up and is not the head, too."""
    head = module.get_output_embeddings().weight
    looked_up = {id(part.weight) for part in module.modules() if isinstance(part, torch.nn.Embedding)} - {id(head)}
    return sum(one.numel() for one in module.parameters() if one.dim() > 1 and id(one) not in looked_up)


LANGUAGE_MODELS = yaml.safe_load((PROJECT / "config/language_models.yaml").read_text(encoding="utf-8"))[
    "language_models"
]
MADE_HERE = {name: entry for name, entry in LANGUAGE_MODELS.items() if "model_type" in entry}
UNLIKE = {"mamba2": (1.0, 1.6), "recurrent-gemma": (1.0, 1.4), "xlstm": (0.7, 1.4)}  # no layers of 12 width^2


@pytest.mark.parametrize("name", MADE_HERE)
def test_weights_follow_from_width_and_layers_in_every_family(name):
    module = build(MADE_HERE[name], 2048, 64, 1)
    low, high = UNLIKE.get(name, (0.9, 1.1))
    assert low < weights(MADE_HERE[name]["config"], 2048) / met(module) < high


def test_a_language_models_operations_are_what_pytorch_counts_but_for_attention():
    entry = MADE_HERE["llama"]
    module, count = build(entry, 2048, 64, 1), weights(entry["config"], 2048)
    with torch.no_grad(), sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
        module(torch.zeros(3, 64, dtype=torch.long), use_cache=False)
    counted = counter.get_total_flops() / 3
    assert 0.9 * counted < operations(count, 64) < 1.01 * counted


def test_weights_of_a_config_without_width_are_not_known_and_its_vocabulary_counts_before_another():
    assert weights({"layers": 2, "dim": 8}) is None
    assert weights({"d_model": 8, "n_layers": 2, "vocab_size": 10}, 99) == 8 * (12 * 8 * 2 + 10)


def test_layers_and_their_states_are_none_where_a_config_does_not_state_them():
    stated, unknown = {"n_embd": 8, "n_layer": 3}, {"layers": 2, "dim": 8}
    assert (layers(stated), states(stated)) == (3, 24)
    assert (layers(unknown), states(unknown)) == (0, 0)


def test_a_model_that_is_trained_whole_takes_more_memory():
    assert (memory_bytes(7e9, False), memory_bytes(7e9, True)) == (56e9, 140e9)
    assert (memory_bytes(7e9, False, best=True), memory_bytes(7e9, True, best=True)) == (56e9, 168e9)
