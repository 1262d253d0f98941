"""Random tensors of a batch: reproducible, within their ranges, with the requested frequencies."""

import pytest
import torch

from memaudit.models.random_tensors import Draw


def test_the_seed_decides_and_every_call_moves_on():
    one, same = Draw(3), Draw(3)
    first = one.normal(5)
    assert torch.equal(first, same.normal(5))
    assert not torch.equal(first, one.normal(5))


def test_ranges_include_what_they_should():
    draw = Draw(0)
    assert set(draw.integer(2, 4, 500).tolist()) == {2, 3, 4}
    values = draw.log_uniform(10_000, low=0.01, high=1.0)
    assert 0.01 <= values.min() < values.max() <= 1.0
    assert values.log10().mean().item() == pytest.approx(-1, abs=0.03)
    assert draw.coin(20_000, chance=0.3).float().mean().item() == pytest.approx(0.3, abs=0.02)


def test_orders_are_permutations_and_weights_are_shares():
    draw = Draw(0)
    assert torch.equal(draw.order(4, 9).sort(-1).values, torch.arange(9).expand(4, 9))
    counts = torch.bincount(draw.weighted(torch.tensor([1.0, 0.0, 3.0]), 8000), minlength=3)
    assert counts[1] == 0
    assert (counts[2] / counts[0]).item() == pytest.approx(3, rel=0.1)
