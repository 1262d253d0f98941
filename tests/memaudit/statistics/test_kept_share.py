"""Share of a gain that is kept: its interval holds the truth, and its verdict follows the interval."""

import numpy as np
import pytest

from memaudit.statistics.kept_share import MET, NO_GAIN, NOT_MET, UNDECIDED, KeptShare, kept_share
from memaudit.statistics.mean_interval import half_width


@pytest.mark.parametrize("share", [0.0, 0.5, 1.1])
def test_the_interval_holds_the_true_share_as_often_as_it_says(share):
    rng, held, runs = np.random.default_rng(1), 0, 2000
    for _ in range(runs):
        reference = 0.3 + rng.normal(0, 0.05, 5)
        found = kept_share(share * reference + rng.normal(0, 0.03, 5), reference)
        held += found.low <= share <= found.high
    assert 0.935 < held / runs < 0.965


def test_a_share_is_in_the_interval_where_paired_differences_cannot_be_told_from_zero():
    reference, gains = np.array([0.3, 0.34, 0.28, 0.31, 0.33]), np.array([0.25, 0.29, 0.26, 0.24, 0.31])
    found = kept_share(gains, reference)
    assert found.estimate == pytest.approx(gains.mean() / reference.mean())
    for end in (found.low, found.high):
        differences = gains - end * reference
        assert abs(differences.mean()) == pytest.approx(half_width(differences))


def test_common_variation_of_both_cancels():
    reference = np.array([0.2, 0.4, 0.3, 0.5, 0.1]) + 0.2
    found = kept_share(0.8 * reference, reference)
    assert (found.low, found.high) == pytest.approx((0.8, 0.8))


def test_a_reference_without_a_gain_has_no_share():
    found = kept_share(np.array([0.1, 0.2, 0.1]), np.array([0.2, -0.2, 0.1]))
    assert np.isnan([found.estimate, found.low, found.high]).all()
    assert found.verdict(0.5) == NO_GAIN


@pytest.mark.parametrize(("ends", "verdict"), [((0.9, 1.0), MET), ((0.8, 0.95), UNDECIDED), ((0.1, 0.89), NOT_MET)])
def test_verdicts(ends, verdict):
    assert KeptShare(sum(ends) / 2, *ends).verdict(0.9) == verdict
