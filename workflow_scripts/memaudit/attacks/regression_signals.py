"""Signals of regressors on score matrices: the density that they give the true number, and their error.

Such a matrix has `prediction` and `log_density` (model, record) in place of logits, and numbers as `label`. A model
that predicts points alone has no density: it gets a normal one around its prediction, of one deviation for all entries.
"""

import numpy as np
import xarray as xr

from memaudit.common.arrays import Array

# Densities count in units of e^TOP times the largest one, so that the logistic function of their logarithm, which RMIA
# and the combined score take for the probability, is the density itself to 1e-8; REACH nats below it they are cut.
TOP, REACH = -20.0, 300.0
LEAST = 1e-9  # of the targets' deviation: least deviation of a normal density


def predicts_numbers(grid: xr.Dataset) -> bool:
    """Whether a score matrix is of regressors."""
    return "prediction" in grid


def errors(grid: xr.Dataset) -> Array:
    """Predicted minus true number, (model, record), in standard deviations of the true numbers."""
    truth = grid.label.values.astype(np.float64)
    return (grid.prediction.values - truth) / (truth.std() or 1.0)


def with_density(grid: xr.Dataset) -> xr.Dataset:
    """The score matrix with a log density of every entry, in nats per deviation of the targets.

    Of a model that predicts points alone it is that of a normal distribution around each prediction, whose deviation is
    the root mean square error on the records that are in no context, in all contexts: a deviation of one context would
    reveal the targets in it, which no answer of such a model does.
    """
    known = grid.log_density.values
    if not np.isnan(known).all():
        return grid
    error = errors(grid)
    sigma = max(np.sqrt(np.mean(error[:, ~grid.member.values] ** 2)), LEAST)
    density = -np.square(error / sigma) / 2 - np.log(sigma * np.sqrt(2 * np.pi))
    return grid.assign(log_density=(("model", "record"), density))


def density_signal(grid: xr.Dataset) -> Array:
    """LiRA's signal (model, record): the log density of the true number, at most TOP and at least TOP - REACH.

    The unit of a density is arbitrary: no score of a calibrated attack depends on it.
    """
    density = grid.log_density.values.astype(np.float64)
    return np.maximum(density - density.max(), -REACH) + TOP
