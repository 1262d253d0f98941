"""Accuracies of the attacked model: values by hand, coverage, paired differences."""

import numpy as np
import pytest
from scipy.stats import norm

from memaudit.statistics.model_utility import (
    ACCURACIES,
    LARGEST_LOSS,
    LOG_LOSS,
    judge_log_loss,
    judge_utility,
)


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
    accuracy, _ = ACCURACIES.differences(changed, usual, labels, rng=rng, replicates=100)
    assert accuracy.estimate == pytest.approx(changed.mean() - usual.mean())
    assert accuracy.detected
    alone = judge_utility(usual, labels, rng=rng, replicates=100)[0]
    assert accuracy.high - accuracy.low < 0.7 * (alone.high - alone.low)


def test_log_loss_by_hand():
    losses = np.array([[0.1, 0.2, 0.3, 0.4, 0.5, 3.0, 0.6, 0.7], [0.1, 0.2, 0.3, 0.4, 0.5, LARGEST_LOSS, 0.6, 0.7]])
    labels = np.array([0, 0, 0, 2, 0, 0, 0, 2])
    (found,) = judge_log_loss(losses, labels, rng=np.random.default_rng(0), replicates=50)
    assert found.estimate == pytest.approx(losses.mean())
    assert found.null == pytest.approx(-0.75 * np.log(0.75) - 0.25 * np.log(0.25))
    (gap,) = LOG_LOSS.differences(losses + 1, losses, labels, rng=np.random.default_rng(0))
    assert (gap.metric, gap.low, gap.high) == ("log loss difference", pytest.approx(1), pytest.approx(1))


def test_the_interval_of_a_log_loss_covers_it_where_records_and_models_differ():
    """Losses as skewed as exponential ones, which a forest's are."""
    rng, covered = np.random.default_rng(17), 0
    for _ in range(60):
        scale = rng.exponential(size=80) * rng.uniform(0.5, 1.5, (20, 1))
        losses = rng.exponential(size=(20, 80)) * scale
        (found,) = judge_log_loss(losses, rng.integers(0, 2, 80), rng=rng, replicates=100)
        covered += found.low <= 1 <= found.high
    assert covered >= 53
