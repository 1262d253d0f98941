"""Attention on context rows: every block, reduced in parts as at once, and which models have it."""

import numpy as np
import pytest
import torch
from small_tabicl import tabicl

from memaudit.models import context_attention
from memaudit.models.class_hierarchy import for_classes
from memaudit.models.context_attention import ReadsContext, in_parts, mean_over_heads, reduced


def tables(classes=3):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 14, 4)).astype(np.float32), rng.permuted(np.arange(18).reshape(2, 9) % classes, axis=1)
    return torch.from_numpy(x[:, :9]), torch.from_numpy(y), torch.from_numpy(x[:, 9:])


@torch.no_grad()
def test_every_block_is_read_in_one_run_and_named_ones_alone():
    network = tabicl("classification")
    every = network.in_context_attention(*tables())
    assert every.shape == (2, 5, 2, 9)
    torch.testing.assert_close(every.sum(-1), torch.ones(2, 5, 2))
    torch.testing.assert_close(network.in_context_attention(*tables(), [1, 0]), every[:, :, [1, 0]])
    torch.testing.assert_close(network.attention(*tables()), every[:, :, -1])
    assert (every[:, :, 0] - every[:, :, 1]).abs().max() > 1e-3


@torch.no_grad()
def test_weights_are_reduced_per_head_with_the_targets_of_the_context():
    network, seen = tabicl("classification"), []

    def reduce(weights, targets):
        seen.append((weights.shape, targets))
        return weights.amax((1, 3))[..., None]

    found = network.in_context_attention(*tables(), [0], reduce)
    assert found.shape == (2, 5, 1, 1)
    assert seen[0][0] == (2, 2, 5, 9)
    torch.testing.assert_close(seen[0][1], tables()[1].float())


@torch.no_grad()
def test_few_weights_at_a_time_give_the_same(monkeypatch):
    network = tabicl("classification")
    whole = network.in_context_attention(*tables())
    monkeypatch.setattr(context_attention, "ENTRIES", 2 * 2 * 9 * 2)
    sizes = []

    def reduce(weights, targets):
        sizes.append(weights.shape[2])
        return mean_over_heads(weights, targets)

    torch.testing.assert_close(network.in_context_attention(*tables(), reduce=reduce), whole)
    assert sizes == [2, 2, 1] * 2


def test_parts_of_queries_are_put_together():
    q, k = torch.randn(1, 2, 6, 3), torch.randn(1, 2, 4, 3)
    expected = (q @ k.transpose(-1, -2) / 3**0.5).softmax(-1).mean(1)
    torch.testing.assert_close(in_parts(q, k, lambda weights: weights.mean(1)), expected)


def test_hooks_are_removed_even_where_the_run_fails():
    layer = torch.nn.Linear(2, 2)
    with pytest.raises(ZeroDivisionError):
        reduced([layer], lambda: 1 / 0, lambda *_: torch.zeros(1, 1))
    assert not layer._forward_pre_hooks


def test_a_network_reads_its_context_and_its_hierarchy_of_classes_does_not():
    network = tabicl("classification")
    assert isinstance(network, ReadsContext)
    assert not isinstance(for_classes(network, 7), ReadsContext)
