"""Combination of attacks: weights without their target, ranks without membership, no leak without one."""

import numpy as np
import pytest
from scipy.special import expit, ndtr

from memaudit.attacks.combined_score import KNOTS, combined, logistic_weights, normal_scores, stack, white_box
from memaudit.attacks.rmia import rmia
from memaudit.attacks.shrunken_variance import student_t_ratio
from memaudit.statistics import roc


def planted(rng, gap, models=32, records=300):
    membership = rng.random((models, records)).argsort(0) < models // 2
    scale = np.exp(rng.normal(size=records))
    return (rng.normal(size=membership.shape) + gap * membership) * scale, membership, rng.normal(size=(models, 60))


def test_normal_scores_keep_the_order_and_are_normal():
    scores = np.random.default_rng(0).standard_cauchy((50, 200))
    normal = normal_scores(scores)
    order = np.argsort(scores.ravel())
    assert (np.diff(normal.ravel()[order]) >= 0).all()
    assert normal.std() == pytest.approx(1, abs=0.02)
    assert np.isfinite(normal).all()


def test_normal_scores_are_interpolated_between_the_knots():
    scores = np.random.default_rng(0).standard_cauchy((20, 300))
    knots = np.quantile(scores, ndtr(KNOTS))
    np.testing.assert_allclose(normal_scores(scores), np.interp(scores, knots, KNOTS), rtol=1e-6)


def test_a_constant_score_stays_constant():
    assert len(np.unique(normal_scores(np.ones((8, 20))))) == 1


def test_weights_are_those_of_the_generating_model_and_never_negative():
    rng = np.random.default_rng(0)
    features = rng.normal(size=(40_000, 3))
    member = rng.random(40_000) < 1 / (1 + np.exp(-(features @ [1.0, 0.5, -0.7] + 0.3)))
    weights = logistic_weights(features[:, :2], member)
    assert weights == pytest.approx([0.9, 0.45], abs=0.06)  # attenuated by the missing third feature
    assert logistic_weights(features, member)[2] == 0


def test_the_combination_is_at_least_as_good_as_its_parts_where_each_knows_something():
    rng = np.random.default_rng(0)
    membership = rng.random((32, 400)).argsort(0) < 16
    parts = [(rng.normal(size=membership.shape) + gap * membership).astype(np.float32) for gap in (1.0, 0.7)]
    areas = [roc.auc(scores, membership) for scores in (stack(parts, membership), *parts)]
    assert areas[0] == pytest.approx(0.806, abs=0.01)  # Phi(sqrt(1 + .49) / sqrt(2))
    assert areas[0] > max(areas[1:]) + 0.02


def test_a_records_own_membership_does_not_change_its_weights():
    rng = np.random.default_rng(0)
    membership = rng.random((16, 40)).argsort(0) < 8
    scores = [rng.normal(size=membership.shape).astype(np.float32) + membership for _ in range(2)]
    changed = membership.copy()
    changed[:, 4] = ~changed[:, 4]
    before, after = stack(scores, membership), stack(scores, changed)
    np.testing.assert_array_equal(after[:, ::2], before[:, ::2])
    assert not np.array_equal(after[:, 1::2], before[:, 1::2])


def test_it_is_the_stack_of_its_parts_to_single_precision():
    signals, membership, population = planted(np.random.default_rng(0), 1.0)
    parts = [rmia(expit(signals), membership, population=expit(population))]
    parts += [student_t_ratio(signals, membership, shared=shared).astype(np.float32) for shared in (True, False)]
    expected = stack([normal_scores(part) for part in parts], membership)
    np.testing.assert_allclose(combined(signals, membership, population=population), expected, rtol=2e-7, atol=1e-9)


def test_a_stack_overwrites_a_score_only_where_told():
    rng = np.random.default_rng(0)
    membership = rng.random((16, 40)).argsort(0) < 8
    scores = [rng.normal(size=membership.shape).astype(np.float32) + membership for _ in range(2)]
    before = [score.copy() for score in scores]
    found = stack(scores, membership)
    np.testing.assert_array_equal(scores, before)
    assert stack(scores, membership, out=scores[0]) is scores[0]
    np.testing.assert_allclose(scores[0], found, rtol=1e-6)
    np.testing.assert_array_equal(scores[1], before[1])


def test_it_finds_a_leak_that_is_there():
    signals, membership, population = planted(np.random.default_rng(0), 1.0)
    assert roc.auc(combined(signals, membership, population=population), membership) > 0.72


def test_without_a_leak_auc_and_tpr_are_those_of_chance():
    found = []
    for seed in range(60):
        signals, membership, population = planted(np.random.default_rng(seed), 0.0, models=16, records=100)
        scores = combined(signals, membership, population=population)
        found.append([roc.auc(scores, membership), *roc.tpr_at_fpr(scores, membership, [0.1])])
    # Deviations of the means over 60 seeds: .0025.
    np.testing.assert_allclose(np.mean(found, 0), [0.5, 0.1], atol=0.01)


def test_attention_adds_to_the_answers_and_nothing_without_a_leak():
    rng = np.random.default_rng(0)
    answers, membership, population = planted(rng, 0.3)
    attention = rng.normal(size=(2, *membership.shape)) + np.array([1.0, 0.5])[:, None, None] * membership
    both = np.stack([*attention, answers], -1)
    found = roc.auc(white_box(both, membership, population=population), membership)
    assert found > roc.auc(combined(answers, membership, population=population), membership) + 0.1
    none = np.stack([*rng.normal(size=attention.shape), rng.normal(size=membership.shape)], -1)
    assert abs(roc.auc(white_box(none, membership, population=population), membership) - 0.5) < 0.02
