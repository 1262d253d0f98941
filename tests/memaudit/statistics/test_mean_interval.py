"""The interval of a mean is that of a textbook, and covers the mean as often as it says."""

import numpy as np
import pytest
from scipy.stats import ttest_1samp

from memaudit.statistics.mean_interval import half_width, mean_over_groups


def test_the_interval_is_that_of_scipy():
    values = np.random.default_rng(0).normal(3, 2, 7)
    low, high = ttest_1samp(values, 0).confidence_interval(0.95)
    assert half_width(values) == pytest.approx((high - low) / 2)


def test_the_interval_of_five_normal_values_covers_their_mean():
    draws = np.random.default_rng(1).normal(1, 3, (4000, 5))
    covered = [abs(values.mean() - 1) <= half_width(values) for values in draws]
    # 0.95 with a standard error of 0.0034.
    assert np.mean(covered) == pytest.approx(0.95, abs=0.012)


def test_the_interval_of_a_mean_over_groups_covers_with_few_values_and_unequal_variances():
    rng, held, runs = np.random.default_rng(2), 0, 2000
    for _ in range(runs):
        _, low, high = mean_over_groups([rng.normal(place, 0.1 + place, 3) for place in range(6)])
        held += low <= 2.5 <= high
    assert 0.935 < held / runs < 0.97


def test_a_mean_over_one_group_has_its_interval():
    values = np.array([0.1, 0.4, 0.2])
    mean, low, high = mean_over_groups([values])
    assert (high - low) / 2 == pytest.approx(half_width(values))
    assert mean == pytest.approx(values.mean())
    assert mean_over_groups([np.ones(3), np.ones(3)]) == (1.0, 1.0, 1.0)
