"""Errors of an attacked regressor: values by hand, coverage, paired differences."""

import numpy as np
import pytest
from sklearn.metrics import r2_score, root_mean_squared_error

from memaudit.statistics.regression_utility import ERRORS, judge_errors


def test_errors_are_scikit_learns():
    rng = np.random.default_rng(0)
    truth = rng.normal(50, 9, 40)
    predicted = truth + rng.normal(0, 4, (3, 40))
    r2, rmse = judge_errors(predicted, truth, rng=rng, replicates=50)
    pooled = np.tile(truth, 3), predicted.ravel()
    assert (r2.metric, r2.estimate, r2.null) == ("r2", pytest.approx(r2_score(*pooled)), 0.0)
    assert (rmse.metric, rmse.estimate) == ("rmse", pytest.approx(root_mean_squared_error(*pooled)))
    assert rmse.null == pytest.approx(truth.std())
    assert r2.low < r2.estimate < r2.high <= 1


def test_the_interval_covers_where_records_and_models_differ():
    rng = np.random.default_rng(15)
    covered = 0
    for _ in range(40):
        predicted = rng.normal(size=(20, 80))
        truth = rng.normal(size=80)
        noise = 0.6 * rng.normal(size=(20, 1)) * np.ones((1, 80)) + 0.6 * rng.normal(size=(1, 80)) + 0.5 * predicted
        r2, rmse = judge_errors(truth + noise, truth, rng=rng, replicates=100)
        covered += r2.low <= 1 - 0.97 <= r2.high
        covered += rmse.low <= np.sqrt(0.97) <= rmse.high
    assert covered >= 70


def test_equal_answers_differ_by_nothing_and_a_worse_one_by_its_noise():
    rng = np.random.default_rng(16)
    truth = rng.normal(size=60)
    usual = truth + rng.normal(size=(16, 1)) * 0.5
    r2, rmse = ERRORS.differences(usual, usual, truth, rng=rng, replicates=50)
    assert (r2.estimate, r2.low, r2.high, rmse.detected) == (0, 0, 0, False)
    worse = usual + 3 * rng.normal(size=usual.shape)
    r2, rmse = ERRORS.differences(worse, usual, truth, rng=rng, replicates=50)
    assert r2.high < -1
    assert r2.detected
    assert rmse.low > 1
