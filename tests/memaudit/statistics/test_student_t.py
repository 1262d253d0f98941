"""Thresholds of the normal distribution and of Student's t, and its fit, against scipy."""

import numpy as np
import pytest
from scipy.stats import norm, t

from memaudit.statistics.student_t import BinnedSquares, exact_threshold, normal_threshold, t_threshold


def test_exact_threshold_tends_to_the_normal_one():
    np.testing.assert_allclose(
        exact_threshold(0.01, np.array([7, 10**7])), [t.ppf(0.99, 6) * np.sqrt(8 / 7), 2.32635], rtol=1e-5
    )


def test_the_t_threshold_is_exceeded_at_its_rate():
    assert t.sf(t_threshold(0.01, 5.5), 5.5) == pytest.approx(0.01)


@pytest.mark.parametrize("freedom", [0.8, 3.0, 30.0])
def test_binned_fit_of_student_t_equals_scipys(freedom):
    values = np.random.default_rng(0).standard_t(freedom, size=4000)
    binned = BinnedSquares()
    for part in np.split(values, 4):
        binned.add(part)
    assert binned.degrees_of_freedom() == pytest.approx(t.fit(values, floc=0, fscale=1)[0], rel=1e-3)


def test_tails_lighter_than_normal_fit_the_normal_distribution():
    binned = BinnedSquares()
    binned.add(np.random.default_rng(0).uniform(-1, 1, size=1000))
    assert t.ppf(0.999, binned.degrees_of_freedom()) == pytest.approx(norm.ppf(0.999), abs=1e-4)


def test_a_normal_score_exceeds_its_threshold_at_the_nominal_rate():
    scores = np.random.default_rng(0).normal(size=200_000)
    for fpr in (0.5, 0.1, 0.01):
        assert (scores > normal_threshold(fpr)).mean() == pytest.approx(fpr, rel=0.05)
