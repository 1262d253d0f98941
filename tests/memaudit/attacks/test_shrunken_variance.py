"""Shrunken variances: the prior is recovered, and few models lose nothing to variances per record or to one for all."""

import numpy as np
import pytest
from scipy.stats import t

from memaudit.attacks.calibrate import calibrate
from memaudit.attacks.shrunken_variance import MOST_FREEDOM, estimate_prior, student_t_ratio
from memaudit.common.errors import AuditError
from memaudit.statistics import roc


def balanced(rng, models, records):
    return rng.random((models, records)).argsort(0) < models // 2


@pytest.mark.parametrize(("freedom", "variance"), [(3.0, 2.0), (10.0, 0.5), (50.0, 1.0)])
def test_the_prior_of_simulated_variances_is_recovered(freedom, variance):
    rng = np.random.default_rng(0)
    sigma2 = freedom * variance / rng.chisquare(freedom, 20_000)
    found = estimate_prior(sigma2 * rng.chisquare(6, 20_000) / 6, np.full(20_000, 6.0))
    assert found.freedom == pytest.approx(freedom, rel=0.15)
    assert found.variance == pytest.approx(variance, rel=0.03)


def test_equal_variances_are_pooled():
    rng = np.random.default_rng(0)
    found = estimate_prior(rng.chisquare(6, 500) / 6, np.full(500, 6.0))
    assert found.freedom > 50
    membership = balanced(rng, 8, 400)
    signals = rng.normal(size=membership.shape) + membership
    pooled = calibrate(signals, membership, "lira", spread="pooled")
    assert np.corrcoef(student_t_ratio(signals, membership).ravel(), pooled.ravel())[0, 1] > 0.98


@pytest.mark.parametrize("shared", [True, False])
def test_scores_are_the_predictive_densities_of_the_remaining_models(shared, monkeypatch):
    """With a fixed prior, against scipy's t of values without the pair."""
    freedom, variance = 4.0, 1.5
    rng = np.random.default_rng(0)
    membership = balanced(rng, 12, 6)
    signals = rng.normal(size=membership.shape) * 2 + membership
    monkeypatch.setattr(
        "memaudit.attacks.shrunken_variance.estimate_prior", lambda *_: (np.float64(freedom), np.float64(variance))
    )
    scores = student_t_ratio(signals, membership, shared=shared)
    for target, record in np.ndindex(*signals.shape):
        inside, outside = (np.flatnonzero(membership[:, record] == side) for side in (True, False))
        turn = int(np.flatnonzero((inside if membership[target, record] else outside) == target)[0])
        sides = [signals[np.delete(of_side, turn), record] for of_side in (inside, outside)]
        squares = [((side - side.mean()) ** 2).sum() for side in sides]
        logs = []
        for side, own in zip(sides, squares, strict=True):
            nu = freedom + (2 * (len(side) - 1) if shared else len(side) - 1)
            scale = (freedom * variance + (sum(squares) if shared else own)) / nu * (1 + 1 / len(side))
            logs.append(t.logpdf(signals[target, record], nu, side.mean(), scale**0.5))
        assert scores[target, record] == pytest.approx(logs[0] - logs[1], abs=1e-9)


@pytest.mark.parametrize("shared", [True, False])
def test_models_without_a_partner_serve_in_no_fit(shared, monkeypatch):
    """Records in 5, 6 and 7 of 12 models: the score of each target from the pairs that remain."""
    freedom, variance = 4.0, 1.5
    rng = np.random.default_rng(1)
    membership = rng.random((12, 6)).argsort(0) < np.array([5, 7, 6, 5, 6, 7])
    signals = rng.normal(size=membership.shape) * 2 + membership
    monkeypatch.setattr(
        "memaudit.attacks.shrunken_variance.estimate_prior", lambda *_: (np.float64(freedom), np.float64(variance))
    )
    scores = student_t_ratio(signals, membership, shared=shared)
    for target, record in np.ndindex(*signals.shape):
        both = [np.flatnonzero(membership[:, record] == side) for side in (True, False)]
        pairs = min(map(len, both))
        turn = int(np.flatnonzero(both[int(not membership[target, record])] == target)[0]) % pairs
        sides = [signals[np.delete(of_side[:pairs], turn), record] for of_side in both]
        squares = [((side - side.mean()) ** 2).sum() for side in sides]
        logs = []
        for side, own in zip(sides, squares, strict=True):
            nu = freedom + (2 if shared else 1) * (len(side) - 1)
            scale = (freedom * variance + (sum(squares) if shared else own)) / nu * (1 + 1 / len(side))
            logs.append(t.logpdf(signals[target, record], nu, side.mean(), scale**0.5))
        assert scores[target, record] == pytest.approx(logs[0] - logs[1], abs=1e-9)


@pytest.mark.parametrize("heteroscedastic", [False, True])
@pytest.mark.parametrize("shared", [True, False])
def test_few_models_lose_nothing_to_either_extreme(heteroscedastic, shared):
    """Truth is known: the shrunken score is no worse than variances per record and than one variance for all."""
    rng = np.random.default_rng(0)
    membership = balanced(rng, 12, 6000)
    scale = np.exp(rng.normal(0, 1.2, 6000)) if heteroscedastic else np.ones(6000)
    signals = (rng.normal(size=membership.shape) + 1.5 * membership) * scale
    found = student_t_ratio(signals, membership, shared=shared)
    extremes = [calibrate(signals, membership, "lira", spread=spread) for spread in ("per_record", "pooled")]
    area, *others = (roc.auc(scores, membership) for scores in (found, *extremes))
    tpr, *other_tprs = (roc.tpr_at_fpr(scores, membership, [0.01])[0] for scores in (found, *extremes))
    assert area > max(others) - 0.003
    assert tpr > max(other_tprs) - 0.005
    # One of the extremes is clearly wrong in either world.
    assert area > min(others) + 0.02


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("models", [8, 16])
def test_without_a_leak_auc_and_tpr_are_those_of_chance(shared, models):
    found = []
    for seed in range(80):
        rng = np.random.default_rng(seed)
        membership = balanced(rng, models, 100)
        signals = (rng.normal(size=membership.shape) + rng.normal(size=(models, 1))) * np.exp(rng.normal(size=100))
        scores = student_t_ratio(signals, membership, shared=shared)
        found.append([roc.auc(scores, membership), *roc.tpr_at_fpr(scores, membership, [0.1])])
    # Deviations of the means over 80 seeds: .0035 and .003.
    np.testing.assert_allclose(np.mean(found, 0), [0.5, 0.1], atol=0.012)


def test_a_record_of_equal_signals_has_a_finite_score():
    rng = np.random.default_rng(0)
    membership = balanced(rng, 16, 20)
    signals = rng.normal(size=membership.shape)
    signals[:, :2] = 27.6
    np.testing.assert_array_equal(student_t_ratio(signals, membership, shared=True)[:, :2], 0.0)
    scores = student_t_ratio(signals, membership)
    assert np.isfinite(scores).all()
    # Equal within a fold of models, whose prior is one.
    np.testing.assert_array_equal(scores[:3, :2], scores[1:4, :2])


@pytest.mark.parametrize("shared", [True, False])
def test_a_lookup_of_records_whose_answers_never_vary_is_finite_and_found(shared):
    membership = balanced(np.random.default_rng(0), 16, 20)
    signals = np.where(membership, 27.6, np.linspace(-1, 1, 20))
    scores = student_t_ratio(signals, membership, shared=shared)
    assert np.isfinite(scores).all()
    assert scores[membership].min() > scores[~membership].max()


def test_variances_that_do_not_scatter_have_the_largest_freedom():
    assert estimate_prior(np.full(50, 2.0), np.full(50, 5.0)).freedom == MOST_FREEDOM


def test_a_prior_needs_records():
    with pytest.raises(AuditError, match="3 records"):
        student_t_ratio(np.random.default_rng(0).normal(size=(8, 3)), np.arange(8)[:, None] % 2 == np.zeros((1, 3)))
