"""The scores of randomisation nulls are LiRA's."""

import numpy as np
import pytest

from memaudit.attacks.balanced_lira import BalancedLira, _variances_of_neighbours
from memaudit.attacks.lira import log_likelihood_ratio
from memaudit.data.membership_matrices import balanced


def signals(shape, rng):
    """Records on scales of their own, one of them constant, one with tiny deviations of a large value."""
    values = rng.normal(size=shape) * np.exp(rng.normal(size=shape[1])) + 5 * rng.normal(size=shape[1])
    values[:, 0] = 3.0
    values[:, 1] = 20 + 1e-6 * rng.normal(size=shape[0])
    return values


@pytest.mark.parametrize("models", [16, 64])
def test_scores_are_those_of_lira_to_single_precision(models):
    rng = np.random.default_rng(models)
    member = balanced(models, 20, rng)
    values = signals(member.shape, rng)
    scores = BalancedLira(values).scores(member)
    whole = np.full((20, models), np.nan)
    for half, places in ((scores.inside, scores.models_inside), (scores.outside, scores.models_outside)):
        np.put_along_axis(whole, places, half, axis=1)
    np.testing.assert_allclose(whole.T, log_likelihood_ratio(values, member), rtol=2e-3, atol=2e-3)
    assert (np.take_along_axis(member.T, scores.models_inside, axis=1)).all()


def test_matrices_that_are_not_balanced_do_not_fit():
    member = balanced(16, 5, np.random.default_rng(0))
    assert BalancedLira.fits(member)
    member[0] = ~member[0]
    assert not BalancedLira.fits(member)
    assert not BalancedLira.fits(balanced(8, 5, np.random.default_rng(0)))


@pytest.mark.parametrize("kind", ["two values", "saturated", "outlier"])
def test_signals_whose_fits_may_be_constant_are_not_scored_in_single_precision(kind):
    """Of ten 0s and six 1s a fit may be constant: single precision then has rounding errors for its variance."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=(16, 20))
    assert BalancedLira(np.c_[values, np.full(16, 3.0)]).is_precise
    changed = {
        "two values": values[:, 0] > 0.3,
        "saturated": np.minimum(values[:, 0], np.median(values[:, 0])),
        "outlier": np.where(np.arange(16) == 3, 1e4, values[:, 0]),
    }
    values[:, 0] = changed[kind]
    assert not BalancedLira(values).is_precise


def test_the_least_variances_are_those_of_neighbours():
    signals = np.random.default_rng(4).standard_t(2, (5, 40)).astype(np.float32)
    windows = np.lib.stride_tricks.sliding_window_view(np.sort(signals, 1), 19, axis=1)
    np.testing.assert_allclose(_variances_of_neighbours(signals), windows.var(-1, dtype=np.float64), atol=1e-10)
