"""Rounded probabilities: finite signals, unit steps, hidden gaps."""

import numpy as np
import pytest
from scipy.special import expit, logit

from memaudit.attacks.calibrate import calibrate
from memaudit.attacks.lira import resolution_floor
from memaudit.attacks.rounded_signal import rounded_confidence
from memaudit.statistics import roc


def grid(rng, gaps, models=64):
    """Signals of deviation 1 that are `gaps` higher where a record is in."""
    gaps = np.asarray(gaps, dtype=float)
    design = rng.random((models, len(gaps))).argsort(0).argsort(0) < models // 2
    return design * gaps + rng.standard_normal(design.shape), design


@pytest.mark.parametrize("decimals", [0, 1, 2, 3])
def test_rounding_never_yields_infinite_signals_or_scores(decimals):
    rng = np.random.default_rng(13)
    p = np.where(rng.random((32, 200)) < 0.3, rng.integers(0, 2, (32, 200)), rng.random((32, 200)))
    p[:, 0], p[:, 1], p[:16, 2], p[16:, 2] = 0, 1, 0.5, 0.51
    signals = rounded_confidence(p, decimals)
    scores = calibrate(signals, grid(rng, np.zeros(200), 32)[1], "lira", floor=resolution_floor(1))
    assert np.isfinite(signals).all()
    assert np.isfinite(scores).all()
    # A record whose value never leaves two neighbouring steps: not more than one step in floors, squared.
    assert np.abs(scores[:, 2]).max() <= 0.5 * 12 + np.log(2)


def test_a_rounded_signal_counts_steps_at_every_place():
    signals = rounded_confidence(np.array([[0.5, 0.99], [0.5, 1.0], [0.51, 1.0]]), 2)
    per_step = [logit(0.51) - logit(0.49), logit(0.995) - logit(0.99)]
    assert signals[2, 0] - signals[0, 0] == pytest.approx((logit(0.51) - logit(0.5)) / (per_step[0] / 2), rel=1e-3)
    assert signals[1, 1] - signals[0, 1] == pytest.approx(1, abs=0.15)
    np.testing.assert_array_equal(rounded_confidence(np.array([[0.2], [0.9]]), 0), 0)


def test_rounding_hides_small_gaps_and_leaves_large_ones():
    rng = np.random.default_rng(14)
    signals, design = grid(rng, np.full(60, 2.0))
    rounded = (rounded_confidence(expit(of), 1) for of in (0.01 * signals + 0.02, signals))
    hidden, shown = (calibrate(of, design, "lira", floor=resolution_floor(1)) for of in rounded)
    small, large = (roc.auc(scores, design) for scores in (hidden, shown))
    assert small == pytest.approx(0.5, abs=0.01)
    assert large > 0.85
