"""Thresholds of known distributions."""

import numpy as np
import pytest

from memaudit.statistics.quantiles import normal_threshold, quantiles


def test_a_normal_score_exceeds_its_threshold_at_the_nominal_rate():
    scores = np.random.default_rng(0).normal(size=200_000)
    for fpr in (0.5, 0.1, 0.01):
        assert (scores > normal_threshold(fpr)).mean() == pytest.approx(fpr, rel=0.05)


def test_quantiles_lie_between_the_values_beside_them():
    np.testing.assert_allclose(quantiles(np.array([0.0, 1.0, 4.0]), [0, 0.25, 0.75, 1]), [0, 0.5, 2.5, 4])
