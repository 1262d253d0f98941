"""Outcomes by the published table, their thresholds, and flags."""

import numpy as np
import pytest

from memaudit.attacks.context_manipulations import PROBE_SIGNALS
from memaudit.studies.iclmem.outcome_rules import (
    COLLAPSE,
    DETECTABLE,
    INVERSION,
    NO_SIGNAL,
    OVERFITTING,
    Rule,
    collapsed,
    flags,
    gaps,
    outcomes,
    published,
    robustness,
    score,
)

HEALTHY = {
    "loss": 1.0, "base_loss": 1.0, "quality": 0.8, "base_quality": 0.8, "chance": 0.6, "mu_gap": -0.2,
    "sigma_gap": 0.5, "diverged": False, "larger_auc": 0.4,
}  # fmt: skip


def facts(**changed):
    """Facts of one run in arrays (1,)."""
    return {name: np.array([value]) for name, value in (HEALTHY | changed).items()}


def outcome(rule=None, **changed):
    observed = facts(**changed)
    rule = rule or Rule()
    return outcomes(observed, rule, published(observed, rule))[0]


def test_every_signal_scores_higher_for_memorized_records():
    before = np.array([2.0, 1.5, 0.1, 1.0])
    after = np.array([0.5, 0.2, 0.6, 0.0])  # loss, entropy, confidence, error of a memorized record
    assert (score(after, before) > 0).all()
    assert score(after, before) == pytest.approx([1.5, 1.3, 0.5, 1.0])
    assert np.array_equal(score(after), [-0.5, -0.2, 0.6, 0.0])


def test_robustness_is_the_mean_over_manipulations_in_double_precision():
    values = np.random.default_rng(0).random((3, 7, 48, len(PROBE_SIGNALS)), dtype=np.float32)
    observed = robustness(values)
    assert observed.shape == (3, 7, len(PROBE_SIGNALS))
    assert observed[2, 6, 1] == np.mean([float(value) for value in values[2, 6, :, 1]])


def test_gaps_are_of_member_less_nonmember_means_by_manipulation():
    loss = np.array([[1.0, 2.0], [3.0, 2.0], [0.0, 8.0], [1.0, 0.0]])
    observed = gaps(loss, np.array([True, True, False, False]))
    assert observed.tolist() == [1.5, -2.0]
    assert (observed.mean(), observed.std()) == (-0.25, 1.75)


def test_outcomes_go_by_the_priority_of_table_3():
    """Each run meets its own condition and all that come after it."""
    flat = {"mu_gap": -0.01, "sigma_gap": 0.01}
    assert outcome(loss=5.1, **{**flat, "mu_gap": 0.01}, larger_auc=0.9) == COLLAPSE
    assert outcome(**{**flat, "mu_gap": 0.01}, larger_auc=0.9) == INVERSION
    assert outcome(**flat, larger_auc=0.9) == DETECTABLE
    assert outcome(**flat) == OVERFITTING
    assert outcome() == NO_SIGNAL


def test_thresholds_are_strict_and_those_of_the_rule():
    assert outcome(larger_auc=0.5) == NO_SIGNAL
    assert outcome(larger_auc=0.542) == DETECTABLE
    assert outcome(Rule(auc=0.55), larger_auc=0.542) == NO_SIGNAL
    assert outcome(Rule(auc=0.55), larger_auc=0.56) == DETECTABLE
    assert outcome(loss=5.0) == NO_SIGNAL
    assert outcome(Rule(loss_ratio=2), loss=2.1) == COLLAPSE
    assert outcome(mu_gap=-0.05, sigma_gap=0.1) == NO_SIGNAL
    assert outcome(mu_gap=-0.04, sigma_gap=0.2) == NO_SIGNAL
    assert outcome(mu_gap=-0.04, sigma_gap=0.19) == OVERFITTING


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"quality": 0.59}, True),  # fell below the majority predictor
        ({"quality": 0.6}, False),
        ({"quality": 0.1, "base_quality": 0.5}, False),  # the base was no better: nothing was destroyed
        ({"quality": 0.0, "chance": np.nan}, False),  # random labels cannot be predicted
        ({"quality": -0.1, "chance": 0.0, "base_quality": 0.3}, True),  # R2
        ({"loss": 0.3, "base_loss": -0.4}, False),  # a density above 1: the ratio says nothing
        ({"loss": np.nan, "larger_auc": np.nan, "mu_gap": np.nan, "diverged": True}, True),
    ],
)
def test_collapse_is_of_loss_accuracy_or_divergence(changed, expected):
    assert collapsed(facts(**changed), Rule())[0] == expected
    if expected:
        assert outcome(**changed) == COLLAPSE


def test_calibrated_flags_are_raw_ones_that_the_base_does_not_have():
    raw, base = np.array([0.09, 0.1, 0.3, 0.3, 1.0, np.nan]), np.array([0.0, 0.1, 0.2, 0.21, 0.95, np.nan])
    flagged, calibrated = flags(raw, base, Rule())
    assert flagged.tolist() == [False, True, True, True, True, False]
    assert calibrated.tolist() == [False, False, True, False, False, False]  # .3 - .2 is .0999... in floats
