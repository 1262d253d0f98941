"""A learned predictor on synthetic settings: weights, penalty, threshold and what shuffled truths teach."""

import numpy as np
import pytest
from learned_settings import setting, settings

from memaudit.attacks.learned_memorization import ONE_CHECKPOINT
from memaudit.statistics import roc
from memaudit.studies.predict.learned_predictor import PENALTIES, fit, learn, scored, shuffled, transfer


def test_weights_of_a_weak_penalty_are_those_of_the_true_log_odds():
    """Normal features with a shift d and equal variances have log-odds with weight d each."""
    many = settings(4, {"psmi": 0.8, "loss": 0.5}, targets=8, records=2000, share=0.1)
    names = ("psmi", "loss", "mahalanobis")
    weights = dict(zip(names, fit(many, names, 1e-6).weights, strict=True))
    # Normal scores have variance 1 over both classes together: a tenth has the shift.
    assert weights["psmi"] == pytest.approx(0.8, abs=0.1)
    assert weights["loss"] == pytest.approx(0.5, abs=0.1)
    assert weights["mahalanobis"] == pytest.approx(0, abs=0.06)
    strong = fit(many, names, 100.0).weights
    assert np.abs(strong).max() < 0.01


def test_settings_count_equally_whatever_their_size_and_share():
    small, large = setting(0, {"psmi": 1.0}, records=200), setting(1, {"loss": 1.0}, records=4000, share=0.5)
    weights = fit([small, large], ("psmi", "loss"), 1e-4).weights
    assert weights[0] / weights[1] == pytest.approx(1, abs=0.35)


def test_what_is_learned_transfers_and_beats_each_feature():
    others, left_out = settings(5, {"psmi": 0.9, "logit_gap": 0.9}), setting(9, {"psmi": 0.9, "logit_gap": 0.9})
    learned = learn(others, ONE_CHECKPOINT)
    truth = left_out.judged.memorized
    single = max(roc.auc(left_out.values(name), truth) for name in ("psmi", "logit_gap"))
    assert roc.auc(scored(learned.combination, left_out), truth) > single
    flagged = scored(learned.combination, left_out) >= learned.threshold
    assert flagged[truth].mean() - flagged[~truth].mean() > 0.4
    assert learned.penalty in PENALTIES


def test_the_penalty_is_chosen_by_transfer_and_is_the_strongest_where_nothing_can_be_left_out():
    several = settings(3, {"psmi": 0.7})
    best = max(transfer(several, ("psmi", "loss"), penalty) for penalty in PENALTIES)
    assert transfer(several, ("psmi", "loss"), learn(several, ("psmi", "loss")).penalty) == best
    assert learn(several[:1], ("psmi", "loss")).penalty == max(PENALTIES)


def test_shuffled_truths_keep_each_targets_count_and_teach_nothing():
    one = setting(0, {"psmi": 2.0})
    rng = np.random.default_rng(0)
    other = shuffled(one, rng)
    for target in range(3):
        own = one.judged.target == target
        assert other.judged.memorized[own].sum() == one.judged.memorized[own].sum()
    areas = []
    for _ in range(200):
        combination = fit([shuffled(one, rng)], ("psmi", "loss"), 0.01)
        areas.append(roc.auc(scored(combination, one), one.judged.memorized))
    assert np.mean(areas) == pytest.approx(0.5, abs=4 * np.std(areas) / np.sqrt(200))
