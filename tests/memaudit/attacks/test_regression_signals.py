"""Signals of regressors: densities and errors, by hand and of models whose leakage is known."""

import numpy as np
import pytest
from regression_grids import MEMBERS, raw, regressor
from scipy.special import expit
from scipy.stats import norm

from memaudit.attacks.regression_signals import density_signal, errors, predicts_numbers, with_density
from memaudit.attacks.score_matrices import confidence, variant


@pytest.fixture
def grid():
    return raw(lambda x, y, queries: np.full(len(queries), y.mean()))


def test_errors_are_in_deviations_of_the_true_numbers(grid):
    assert predicts_numbers(grid)
    truth = grid.label.values.astype(float)
    np.testing.assert_allclose(errors(grid) * truth.std(), grid.prediction.values - truth)


def test_a_model_of_points_has_one_normal_density_in_all_contexts(grid):
    error = errors(grid)
    sigma = np.sqrt((error[:, MEMBERS:] ** 2).mean())
    np.testing.assert_allclose(with_density(grid).log_density, norm.logpdf(error, scale=sigma))


def test_a_density_of_the_model_is_kept(grid):
    own = grid.assign(log_density=-grid.prediction)
    assert with_density(own).log_density.equals(own.log_density)


def test_the_logistic_function_of_the_signal_is_the_density_in_another_unit(grid):
    found = variant(grid, "usual")
    ratio = expit(confidence(found)) / np.exp(found.log_density.values)
    np.testing.assert_allclose(ratio, ratio[0, 0], rtol=1e-7)


def test_a_density_that_is_next_to_nothing_is_cut(grid):
    far = grid.assign(log_density=-np.square(grid.prediction - grid.prediction[0, 0]))
    assert np.ptp(density_signal(far)) <= 300
    assert np.isfinite(np.log(expit(density_signal(far)))).all()


def test_a_constant_prediction_has_a_constant_signal_although_targets_differ(grid):
    constant = variant(grid.assign(prediction=grid.prediction * 0 + 1e4), "usual")
    assert np.ptp(confidence(constant), axis=0).max() == 0
    assert regressor("sklearn.dummy.DummyRegressor").points_alone
    assert not regressor("sklearn.linear_model.BayesianRidge").points_alone
