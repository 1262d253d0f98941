"""The interval of a mean is that of a textbook, and covers the mean as often as it says."""

import numpy as np
import pytest
from scipy.stats import ttest_1samp

from memaudit.statistics.mean_interval import half_width


def test_the_interval_is_that_of_scipy():
    values = np.random.default_rng(0).normal(3, 2, 7)
    low, high = ttest_1samp(values, 0).confidence_interval(0.95)
    assert half_width(values) == pytest.approx((high - low) / 2)


def test_the_interval_of_five_normal_values_covers_their_mean():
    draws = np.random.default_rng(1).normal(1, 3, (4000, 5))
    covered = [abs(values.mean() - 1) <= half_width(values) for values in draws]
    # 0.95 with a standard error of 0.0034.
    assert np.mean(covered) == pytest.approx(0.95, abs=0.012)
