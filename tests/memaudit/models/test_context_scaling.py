"""Scaling by the context: queries do not enter, and constant, missing and extreme cells stay finite."""

import pytest
import torch

from memaudit.models.context_scaling import standardize, target_scale


def test_scaling_uses_context_rows_only():
    context, query = torch.randn(2, 20, 3), torch.randn(2, 5, 3)
    alone, _ = standardize(context, query)
    beside, _ = standardize(context, query * 100)
    assert torch.equal(alone, beside)
    plain, _ = standardize(context, query, clip=1e4)
    torch.testing.assert_close(plain.mean(1), torch.zeros(2, 3), atol=1e-5, rtol=0)
    torch.testing.assert_close(plain.std(1, correction=0), torch.ones(2, 3), atol=1e-5, rtol=0)


def test_scaling_of_constant_missing_and_wild_cells_is_finite_and_bounded():
    context = torch.tensor(
        [[1e6, 5.0, float("nan"), 0.0], [1e6, float("nan"), float("nan"), 1.0], [1e6, 7.0, float("nan"), 2.0]]
    )
    query = torch.tensor([[2e6, 1e30, 3.0, float("nan")]])
    scaled, asked = standardize(context[None], query[None], clip=6.0)
    assert torch.equal(scaled[0, :, 0], torch.zeros(3))  # constant
    assert torch.equal(scaled[0, :, 2], torch.zeros(3))  # never observed
    assert scaled[0, 1, 1] == 0  # missing = mean
    assert asked[0, 0].tolist() == pytest.approx([0, 6, 0, 0])


def test_scaling_keeps_the_order_of_outliers():
    context = torch.arange(10.0).view(1, 10, 1)
    _, asked = standardize(context, torch.tensor([[[20.0], [30.0], [40.0]]]), clip=6.0)
    assert (asked[0].diff(dim=0) > 0).all()


def test_targets_that_are_all_equal_have_deviation_one():
    mean, deviation = target_scale(torch.tensor([[2.0, 2.0, 2.0], [1.0, 2.0, 3.0]]))
    assert mean[:, 0].tolist() == [2, 2]
    assert deviation[:, 0].tolist() == pytest.approx([1, (2 / 3) ** 0.5])


def test_counted_targets_are_scaled_as_repeated_ones():
    counted = target_scale(torch.tensor([[0.1, 0.4, 7.0], [0.1, 0.1, 0.1]]), torch.tensor([[1, 5, 2], [3, 1, 1]]))
    repeated = target_scale(torch.tensor([[0.1, *[0.4] * 5, 7.0, 7.0], [0.1] * 8]))
    for ours, expected in zip(counted, repeated, strict=True):
        torch.testing.assert_close(ours, expected)
