"""Differences from the best of several: coverage where the data choose the best, and what is detectable."""

import numpy as np
import pytest

from memaudit.statistics.attack_performance import Estimate
from memaudit.statistics.difference_from_best import from_best, from_best_over_settings, smallest_detectable


def estimates(observed, error):
    return {
        str(place): Estimate("gap", one, one - 1.96 * error, one + 1.96 * error, 10, "simulated", 0.0)
        for place, one in enumerate(observed)
    }


@pytest.mark.parametrize("truth", [np.zeros(6), np.linspace(0, 0.5, 6), np.array([0.0, 2, 2, 2, 2, 2])])
def test_the_interval_covers_the_smallest_true_difference(truth):
    rng = np.random.default_rng(1)
    covered = 0
    for _ in range(2000):
        observed = truth + 0.6 * rng.normal() + 0.8 * rng.normal(size=6)
        gap = from_best(estimates(observed, 1.0), "gap")
        covered += gap.low <= truth.min() <= gap.high
    assert covered / 2000 > 0.95 - 3 * np.sqrt(0.95 * 0.05 / 2000)


@pytest.mark.parametrize("truth", [np.zeros(5), np.linspace(0, 1, 5)])
def test_the_interval_over_settings_covers_it_and_a_gain_over_none_is_not_claimed(truth):
    rng = np.random.default_rng(2)
    covered = claimed = 0
    for _ in range(1000):
        values = truth + rng.normal(size=(8, 1)) + rng.normal(size=(8, 5))
        gap = from_best_over_settings({str(place): one for place, one in enumerate(values.T)}, "gap")
        covered += gap.low <= truth.min() <= gap.high
        claimed += gap.low > 0
    assert covered / 1000 > 0.95 - 3 * np.sqrt(0.95 * 0.05 / 1000)
    assert claimed / 1000 < 0.025 + 3 * np.sqrt(0.025 * 0.975 / 1000)


def test_the_method_names_the_best_and_one_setting_has_no_interval():
    gap = from_best(estimates([0.3, 0.1, 0.2], 0.05), "auc gap")
    assert (gap.metric, gap.estimate) == ("auc gap", 0.1)
    assert "best of 3: 1;" in gap.method
    assert np.isnan(from_best_over_settings({"a": np.array([0.1])}, "gap").low)


def test_a_difference_of_that_size_is_detected_in_nine_of_ten_repeats():
    rng = np.random.default_rng(3)
    gap = Estimate("gap", 0.4, 0.4 - 1.96, 0.4 + 1.96, 10, "", 0.0)
    true = smallest_detectable(gap)
    assert np.mean(true + rng.normal(size=20_000) > 1.96) == pytest.approx(0.9, abs=0.01)
