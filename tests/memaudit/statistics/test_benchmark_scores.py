"""Scores of the model cards, by hand."""

import numpy as np
import pytest

from memaudit.statistics.benchmark_scores import macro_auc, r_squared

CLASSES = np.array([0, 0, 1, 1, 2, 2])


def test_a_perfect_order_scores_1_and_equal_probabilities_a_half():
    assert macro_auc(CLASSES, np.eye(3)[CLASSES]) == 1
    assert macro_auc(CLASSES, np.full((6, 3), 1 / 3)) == 0.5


def test_the_score_is_the_mean_over_classes_against_the_rest():
    probability = np.eye(3)[CLASSES]
    probability[0, 0] = probability[1, 0] = -1
    assert macro_auc(CLASSES, probability) == pytest.approx((0 + 1 + 1) / 3)


def test_the_mean_of_the_targets_determines_nothing_of_them():
    targets = np.array([1.0, 2.0, 6.0])
    assert r_squared(targets, targets) == 1
    assert r_squared(targets, np.full(3, targets.mean())) == 0
