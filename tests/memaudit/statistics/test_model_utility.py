"""Accuracies of the attacked model: values by hand, coverage, paired differences."""

import numpy as np
import pytest
from scipy.stats import norm

from memaudit.statistics.model_utility import judge_utility, utility_differences


def test_accuracies_by_hand():
    correct = np.array([[1, 1, 0, 0], [1, 0, 0, 1]], dtype=bool)
    accuracy, balanced = judge_utility(correct, np.array([0, 0, 0, 2]), rng=np.random.default_rng(0), replicates=50)
    assert (accuracy.metric, accuracy.estimate, accuracy.null) == ("accuracy", 0.5, 0.75)
    assert (balanced.metric, balanced.estimate, balanced.null) == ("balanced accuracy", 0.5, 0.5)
    correct[:, 3] = True
    accuracy, balanced = judge_utility(correct, np.array([0, 0, 0, 2]), rng=np.random.default_rng(0), replicates=50)
    assert accuracy.estimate == pytest.approx(5 / 8)
    assert balanced.estimate == pytest.approx((3 / 6 + 1) / 2)


def test_the_interval_of_an_accuracy_covers_it_where_records_and_models_differ():
    rng = np.random.default_rng(15)
    covered = 0
    for _ in range(40):
        chance = norm.cdf(rng.standard_normal((20, 1)) * 0.5 + rng.standard_normal((1, 80)) * 0.5)
        found = judge_utility(rng.random((20, 80)) < chance, rng.integers(0, 2, 80), rng=rng, replicates=100)
        covered += sum(one.low <= 0.5 <= one.high for one in found)
    assert covered >= 70


def test_common_noise_of_two_accuracies_cancels():
    rng = np.random.default_rng(16)
    usual = rng.random((20, 80)) < norm.cdf(rng.standard_normal((20, 1)))
    changed, labels = usual.copy(), rng.integers(0, 2, 80)
    changed[:, :8] = False
    accuracy, _ = utility_differences(changed, usual, labels, rng=rng, replicates=100)
    assert accuracy.estimate == pytest.approx(changed.mean() - usual.mean())
    assert accuracy.detected
    alone = judge_utility(usual, labels, rng=rng, replicates=100)[0]
    assert accuracy.high - accuracy.low < 0.7 * (alone.high - alone.low)
