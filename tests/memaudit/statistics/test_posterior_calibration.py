"""Calibrated posteriors agree with the share of members, and those of listed records with new contexts."""

import numpy as np
import pytest
from scipy.special import expit

from memaudit.attacks.calibrate import calibrate
from memaudit.attacks.gaussian import CONVENTIONS, fit
from memaudit.common.errors import AuditError
from memaudit.statistics.posterior_calibration import calibrated_ratios, member_posteriors, reliability
from memaudit.statistics.record_vulnerability import Population

RECORDS = 400


def grid(rng, effects, models):
    membership = rng.random((models, len(effects))).argsort(0).argsort(0) < models // 2
    return membership * effects + rng.standard_normal(membership.shape), membership


@pytest.mark.parametrize("models", [16, 32])
@pytest.mark.parametrize("effect", [0.0, 1.0])
def test_calibrated_posteriors_are_the_share_of_members(models, effect):
    rng = np.random.default_rng(0)
    signals, membership = grid(rng, np.full(RECORDS, effect), models)
    ratios = calibrate(signals, membership, "lira")
    raw = reliability(expit(ratios), membership)
    calibrated = reliability(expit(calibrated_ratios(ratios, membership, rng)), membership)
    assert raw.error > 0.03  # LiRA's ratios from few models are overconfident
    assert calibrated.error < 0.02
    assert calibrated.entries.sum() == membership.size


def test_true_ratios_stay_as_they_are():
    rng = np.random.default_rng(1)
    signals, membership = grid(rng, np.full(2000, 1.5), 32)
    true = 1.5 * signals - 1.5**2 / 2
    found = calibrated_ratios(true, membership, rng)
    middle = np.abs(true) < 2
    np.testing.assert_allclose(found[middle], true[middle], atol=0.35)


def test_no_bin_claims_more_than_its_entries_can_show():
    rng = np.random.default_rng(2)
    membership = rng.random((20, 30)) < 0.5
    ratios = calibrated_ratios(np.where(membership, 1e6, -1e6), membership, rng)
    assert np.abs(ratios).max() < np.log(600)
    assert (ratios[membership] > 3).all()


def test_the_base_rate_of_the_contexts_is_taken_out():
    rng = np.random.default_rng(3)
    membership = rng.random((64, 200)) < 0.2
    ratios = calibrated_ratios(rng.standard_normal(membership.shape), membership, rng)
    np.testing.assert_allclose(ratios, 0, atol=0.4)
    assert abs(ratios.mean()) < 0.05


@pytest.mark.parametrize("effect", [0.0, 1.0])
def test_posteriors_of_listed_records_hold_in_new_contexts(effect):
    """The truth: LiRA with all contexts as references on new contexts, calibrated by the share of members there."""
    rng, listed, truth, own = np.random.default_rng(4), [], [], []
    for _ in range(3):
        effects = np.full(RECORDS, effect)
        signals, membership = grid(rng, effects, 32)
        new, inside_new = grid(rng, effects, 64)
        ratios = calibrated_ratios(calibrate(signals, membership, "lira"), membership, rng)
        population = Population.fit(signals, membership, rng)
        top = np.argsort(-population.scores(signals, membership))[:20]
        listed.append(member_posteriors(ratios, signals, membership, population, [0.5], rng)[top].mean())
        own.append((expit(ratios) * membership).sum(0)[top].sum() / membership[:, top].sum())
        inside, outside = (fit(signals, side, CONVENTIONS["mean"]) for side in (membership, ~membership))
        scores = inside.log_density(new) - outside.log_density(new)
        posterior = expit(calibrated_ratios(scores, inside_new, rng))
        truth.append(posterior[:, top][inside_new[:, top]].mean())
    assert np.mean(listed) == pytest.approx(np.mean(truth), abs=0.03)
    if effect:
        assert np.mean(own) > np.mean(truth) + 0.03  # the mean over the record's own contexts is selected


@pytest.mark.parametrize(("models", "records", "leaking", "effect", "least"), [
    (16, 200, 1, 20.0, 0.85), (32, 30, 1, 20.0, 0.85), (16, 200, 10, 3.0, 0.69),
])  # fmt: skip
def test_records_that_leak_far_more_than_others_have_a_high_posterior(models, records, leaking, effect, least):
    """1, 1 and .82 are known with all parameters; with one ratio for all records .58, .67 and .67 are found."""
    found, errors = [], []
    for seed in range(8):
        rng = np.random.default_rng([seed, 11])
        effects = np.where(np.arange(records) < leaking, effect, 0.0)
        signals, membership = grid(rng, effects, models)
        ratios = calibrated_ratios(calibrate(signals, membership, "lira"), membership, rng)
        population = Population.fit(signals, membership, rng)
        top = np.argsort(-population.scores(signals, membership))[:leaking]
        found.append(member_posteriors(ratios, signals, membership, population, [0.5], rng)[top].mean())
        errors.append(reliability(expit(ratios), membership).error)
    assert np.mean(found) >= least
    assert np.mean(errors) < (0.055 if records == 30 else 0.035)


def test_a_rare_base_rate_lowers_posteriors():
    rng = np.random.default_rng(5)
    signals, membership = grid(rng, np.linspace(0, 3, 200), 32)
    ratios = calibrated_ratios(calibrate(signals, membership, "lira"), membership, rng)
    population = Population.fit(signals, membership, rng)
    even, rare = member_posteriors(ratios, signals, membership, population, [0.5, 0.1], rng).T
    assert (rare < even).all()
    assert np.corrcoef(even, np.linspace(0, 3, 200))[0, 1] > 0.8


def test_too_few_models_are_refused():
    rng = np.random.default_rng(6)
    with pytest.raises(AuditError, match="use more models"):
        calibrated_ratios(np.zeros((4, 3)), np.eye(4, 3) > 0, rng)
    signals, membership = grid(rng, np.zeros(20), 6)
    membership[:, :] = np.arange(6)[:, None] < 1
    population = Population.fit(*grid(rng, np.zeros(20), 16), rng)
    with pytest.raises(AuditError, match="no record"):
        member_posteriors(signals, signals, membership, population, [0.5], rng)
