"""Exposures of labels by hand, and of labels drawn at random."""

import numpy as np
import pytest
import torch

from memaudit.attacks.label_exposure import exposure
from memaudit.attacks.label_ranks import label_ranks


def test_exposure_is_zero_for_the_least_probable_and_the_bound_for_the_most_probable_label():
    assert exposure([1, 2, 8], 8).tolist() == [3.0, 2.0, 0.0]
    assert exposure(1.0, 2) == 1.0


def test_a_label_drawn_at_random_has_an_exposure_below_the_bound_by_its_mean():
    """Of uniform ranks the mean of -log2(rank / k) is about 1 / ln 2 for many candidates (Carlini et al. 2019)."""
    rng = np.random.default_rng(0)
    logits = torch.from_numpy(rng.normal(size=(4000, 200)))
    ranks = label_ranks(logits, rng.integers(0, 200, 4000), np.arange(200))
    assert exposure(ranks, 200).mean() == pytest.approx(1 / np.log(2), abs=0.1)
