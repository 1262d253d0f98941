"""Targets of synthetic tables: class counts, proportions, contiguous labels and numbers."""

import pytest
import torch

from memaudit.models.random_tensors import Draw
from memaudit.models.synthetic_targets import TARGETS, class_counts, classes, contiguous, numbers, proportions

SETTINGS = {"max_classes": 6, "binary": 0.4}


def test_proportions_sum_to_one_over_the_classes_of_each_table():
    shares = proportions(Draw(0), torch.tensor([2, 6]), 6)
    torch.testing.assert_close(shares.sum(1), torch.ones(2))
    assert (shares > 0).sum(1).tolist() == [2, 6]


def test_two_classes_have_their_probability():
    counts = class_counts(Draw(0), 20_000, SETTINGS)
    assert (counts == 2).float().mean().item() == pytest.approx(0.4 + 0.6 / 5, abs=0.02)
    assert (counts.min(), counts.max()) == (2, 6)


def test_classes_stay_below_the_largest_number():
    latent = Draw(1).normal(30, 80, TARGETS)
    labels = classes(Draw(2), latent, SETTINGS)
    assert labels.shape == (30, 80)
    assert 0 <= labels.min() < labels.max() < 6


def test_labels_are_numbered_by_the_context_and_others_are_minus_one():
    y = torch.tensor([[5, 2, 5, 2, 0, 5]])
    assert contiguous(y, 3, 6).tolist() == [[1, 0, 1, 0, -1, 1]]


def test_numbers_are_finite_and_vary():
    y = numbers(Draw(0), Draw(1).normal(50, 60))
    assert y.isfinite().all()
    assert (y.std(1) > 0).all()
