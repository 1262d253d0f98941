"""Scores of one model's predictions: their order, their fits on the other half, and persons."""

import numpy as np
import pytest
from prediction_examples import predictions
from scipy.special import expit

from memaudit.attacks import prediction_scores
from memaudit.attacks.prediction_scores import (
    QUANTILE_REGRESSION,
    RMIA,
    Predictions,
    by_unit,
    compared_with_non_members,
    logits,
    without_fit,
)
from memaudit.attacks.rmia import dominated, offline_marginal
from memaudit.statistics import roc


def test_the_probability_of_the_true_class_decides_and_zero_is_finite():
    p = np.array([[1.0, 0.0], [0.9, 0.1], [0.5, 0.5], [0.0, 1.0]])
    found = without_fit(Predictions(p, np.zeros(4, int), np.empty((4, 0)), np.empty(0, bool), np.empty((0, 4))), 0.3)
    for name in ("loss", "modified entropy", "prediction gap"):
        assert (np.diff(found[name]) < 0).all(), name
        assert np.isfinite(found[name]).all()
    assert found["confidence"][0] == pytest.approx(found["confidence"][3])
    assert list(found["correctness"]) == [1, 1, 0, 0]
    assert np.isfinite(logits(p)).all()
    assert RMIA not in found


def test_rmias_ratio_orders_records_as_its_score_does():
    rng = np.random.default_rng(0)
    found, member = predictions(rng, 60, 60, leak=True, references=2)
    ratio = without_fit(found, 0.3)[RMIA]
    own = found.probabilities[np.arange(120), found.labels]
    assert ratio == pytest.approx(own / offline_marginal(found.references.mean(0), 0.3))
    shares = dominated(ratio, ratio[~member], 1.0)
    assert (np.diff(shares[np.argsort(ratio)]) >= 0).all()


def test_no_row_is_compared_with_itself_and_members_with_non_members_of_the_other_half():
    rng = np.random.default_rng(1)
    found, member = predictions(rng, 60, 60)
    half = rng.permutation(120) % 2 == 0
    before = compared_with_non_members(found, member, half)
    # Other answers about members, and about non-members of the row's own half, change no other row's score.
    changed = found.probabilities.copy()
    moved = member | half
    changed[moved] = changed[moved][:, ::-1]
    others = Predictions(changed, found.labels, found.features, found.categorical, found.references)
    after = compared_with_non_members(others, member, half)
    for name in before:
        untouched = half & ~moved
        assert before[name][untouched] == pytest.approx(after[name][untouched]), name
        assert not np.allclose(before[name][half & member], after[name][half & member]), name
        # The other half is compared with non-members of this one, which have changed.
        assert not np.allclose(before[name][~half & ~member], after[name][~half & ~member]), name


def test_quantile_regression_sees_what_difficulty_hides():
    rng = np.random.default_rng(2)
    hard = rng.random(800) < 0.5
    member = np.arange(800) < 400
    signal = rng.normal(size=800) + 8 * hard + 1.2 * member
    own = 1 / (1 + np.exp(-signal))
    found = Predictions(np.column_stack([own, 1 - own]), np.zeros(800, int), hard[:, None] * 1.0, np.array([False]),
                        np.empty((0, 800)))  # fmt: skip
    half = rng.permutation(800) % 2 == 0
    scores = without_fit(found, 0.3) | compared_with_non_members(found, member, half)
    areas = {name: roc.auc(score, member) for name, score in scores.items()}
    assert areas[QUANTILE_REGRESSION] > 0.75 > areas["loss"] + 0.05


def test_thresholds_per_class_find_a_leak_that_the_loss_alone_misses():
    """Twenty classes of very different difficulty: the loss orders classes, members stand out in their own alone."""
    rng = np.random.default_rng(4)
    labels, member = np.arange(800) % 20, np.arange(800) < 400
    own = expit(rng.normal(size=800) + 1.5 * member + 4 * (labels - 10))
    p = np.repeat((1 - own)[:, None] / 19, 20, axis=1)
    p[np.arange(800), labels] = own
    found = Predictions(p, labels, np.empty((800, 0)), np.empty(0, bool), np.empty((0, 800)))
    half = np.arange(800) // 20 % 2 == 0
    scores = without_fit(found, 0.3) | compared_with_non_members(found, member, half)
    null = [rng.permutation(member) for _ in range(199)]
    p_values = {
        name: (1 + sum(roc.auc(scores[name], drawn) >= roc.auc(scores[name], member) for drawn in null)) / 200
        for name in ("loss", "loss per class")
    }
    assert p_values["loss"] > 0.05
    assert p_values["loss per class"] == 1 / 200
    assert roc.auc(scores["loss per class"], member) > 0.75 > roc.auc(scores["loss"], member) + 0.15


def test_a_class_without_references_is_compared_with_all():
    rng = np.random.default_rng(3)
    found, member = predictions(rng, 60, 60)
    rare = found.labels.copy()
    rare[:3] = 2
    wide = np.column_stack([found.probabilities, np.zeros(120)])
    others = Predictions(wide, rare, found.features, found.categorical, found.references)
    scores = compared_with_non_members(others, member, np.arange(120) % 2 == 0)
    assert all(np.isfinite(score).all() for score in scores.values())


def test_many_categories_are_no_fault():
    rng = np.random.default_rng(4)
    found, member = predictions(rng, 300, 300)
    codes = np.minimum(np.arange(600) // 2, 254)[:, None].astype(float)
    others = Predictions(found.probabilities, found.labels, codes, np.array([True]), found.references)
    scores = compared_with_non_members(others, member, np.arange(600) % 2 == 0)
    assert np.isfinite(scores[QUANTILE_REGRESSION]).all()


def test_scores_of_a_person_are_means_over_rows():
    found = by_unit({"loss": np.array([1.0, 3.0, 5.0])}, np.array([0, 0, 1]))
    assert list(found["loss"]) == [2, 5]


def test_every_score_has_a_name_for_readers():
    found, member = predictions(np.random.default_rng(5), 60, 60, references=1)
    names = without_fit(found, 0.3).keys() | compared_with_non_members(found, member, np.arange(120) % 2 == 0).keys()
    assert names == prediction_scores.NAMES.keys()
