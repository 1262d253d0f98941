"""Power of a verdict from the spread of its estimates."""

import numpy as np
import pytest

from memaudit.statistics.detection_power import Verdict

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
