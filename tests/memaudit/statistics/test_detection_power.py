"""Power of a verdict from the spread of its estimates."""

import numpy as np
import pytest
from scipy.stats import nct, t

from memaudit.statistics import bootstrap, intervals
from memaudit.statistics.detection_power import (
    Verdict,
    critical,
    smallest_mean_excess,
    smallest_of_largest,
    smallest_rate,
    smallest_shown,
)
from memaudit.statistics.permutation_tests import max_t, p_value

STANDARD = np.random.default_rng(0).normal(size=4000)


def verdict(half_width, draws=19):
    return Verdict(0.01, 0.01, STANDARD, np.full(4, half_width), draws)


def test_the_power_is_the_share_of_simulated_verdicts():
    rng, excess = np.random.default_rng(1), 0.022
    estimates = excess + 0.01 * rng.normal(size=(4000, 1))
    nulls = 0.01 * rng.normal(size=(4000, 19))
    rejected = (estimates > nulls).all(1)
    assert verdict(0.0).power(excess) == pytest.approx(rejected.mean(), abs=0.03)
    above = estimates[:, 0] > 0.018
    assert verdict(0.018).power(excess) == pytest.approx((rejected & above).mean(), abs=0.03)


def test_the_smallest_excess_has_a_power_of_80_percent_and_grows_with_the_interval():
    for width in (0.0, 0.02, 0.05):
        assert verdict(width).power(verdict(width).smallest_excess()) == pytest.approx(0.8, abs=0.01)
    assert verdict(0.05).smallest_excess() == pytest.approx(0.05 + 0.84 * 0.01, abs=1e-3)
    assert verdict(0.05).smallest_excess() > verdict(0.0).smallest_excess()


def test_without_an_effect_the_power_is_the_level_of_the_test():
    assert verdict(0.0).power(0.0) == pytest.approx(0.05, abs=0.02)


@pytest.mark.parametrize("threshold", [-np.inf, 0.05, 0.2])
def test_a_mean_of_the_smallest_excess_is_detected_in_nine_of_ten_trials(threshold):
    rng, spread = np.random.default_rng(0), 0.1
    excess = smallest_mean_excess(spread, 5, threshold=threshold)
    values = excess + spread * rng.normal(size=(5, 4000))
    detected = (values.mean(0) - bootstrap.t_half_width(values) > 0) & (values.mean(0) > threshold)
    assert detected.mean() == pytest.approx(0.9, abs=0.02)
    if np.isinf(threshold):  # the exact power of a test of Student's t
        beyond = bootstrap.for_skewed(5) * t.ppf(0.975, 4)
        assert nct.sf(beyond, 4, excess * np.sqrt(5) / spread) == pytest.approx(0.9, abs=0.002)


def test_the_smallest_shown_excess_is_above_chance_with_its_interval_in_nine_of_ten_trials():
    estimates = smallest_shown(0.3, 0.3 - 0.196, 0.3 + 0.196) + 0.1 * STANDARD
    assert (estimates - 0.196 > 0).mean() == pytest.approx(0.9, abs=0.015)
    assert smallest_shown(0.0, 0.0, 0.0) == 0


def test_nothing_is_detectable_from_one_value_or_beyond_an_infinite_threshold():
    assert np.isnan(smallest_mean_excess(0.1, 1))
    assert smallest_mean_excess(0.1, 5, threshold=np.inf) == np.inf
    assert smallest_mean_excess(0.0, 5, threshold=0.1) == 0.1


def test_the_smallest_of_the_largest_passes_max_t_in_nine_of_ten_trials():
    rng = np.random.default_rng(0)
    null = np.array([0.5, 0.52])[:, None] + np.array([0.02, 0.05])[:, None] * rng.normal(size=(2, 999))
    smallest = smallest_of_largest(null)
    for at, spread in enumerate((0.02, 0.05)):
        observed = np.full((600, 2), 0.5)
        observed[:, at] = smallest[at] + spread * rng.normal(size=600)
        detected = [max_t(one, null)[at] <= 0.05 for one in observed]
        assert np.mean(detected) == pytest.approx(0.9, abs=0.04)
    assert (smallest_of_largest(null[:, :18]) == np.inf).all()
    constant = smallest_of_largest(np.vstack([null[1], np.full(999, 0.5)]))
    assert (constant[0] < 0.7, constant[1]) == (True, np.inf)


def test_a_value_is_critical_where_the_next_larger_one_has_the_level():
    null = np.arange(1.0, 100.0)
    above = critical(null, 0.05)
    assert p_value(np.array(above + 0.5), null) <= 0.05 < p_value(np.array(above), null)
    assert critical(null, 0.005) == np.inf


def test_the_smallest_rate_is_shown_by_its_interval_in_nine_of_ten_trials():
    rate = smallest_rate(20, 0.05)
    hits = np.random.default_rng(0).binomial(20, rate, 4000)
    lows = np.array([intervals.clopper_pearson(count, 20)[0] for count in range(21)])
    assert (lows[hits] > 0.05).mean() == pytest.approx(0.9, abs=0.02)
    assert np.isnan(smallest_rate(1, 0.05))
