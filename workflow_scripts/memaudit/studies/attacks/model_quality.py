"""How well the attacked model predicts records that are in no context: accuracies of classes, errors of numbers."""

import numpy as np
import xarray as xr

from memaudit.attacks.regression_signals import predicts_numbers
from memaudit.attacks.score_matrices import labels
from memaudit.attacks.signals import loss
from memaudit.common.arrays import Array
from memaudit.statistics.attack_performance import Estimate
from memaudit.statistics.model_utility import ACCURACIES, LARGEST_LOSS, LOG_LOSS, judge_log_loss, judge_utility
from memaudit.statistics.regression_utility import ERRORS, judge_errors


def quality(others: xr.Dataset, rng: np.random.Generator, replicates: int) -> list[Estimate]:
    """Accuracy and balanced accuracy, or R2 and RMSE; others: score matrix of the non-members."""
    options = {"rng": rng, "groups": others.unit.values, "replicates": replicates}
    if predicts_numbers(others):
        return judge_errors(others.prediction.values, others.label.values.astype(np.float64), **options)
    return judge_utility(_correct(others), others.label.values, **options)


def quality_differences(
    changed: xr.Dataset, usual: xr.Dataset, rng: np.random.Generator, replicates: int
) -> list[Estimate]:
    """The same minus that of the usual answers; both of the same non-members, model by model."""
    options = {"rng": rng, "groups": usual.unit.values, "replicates": replicates}
    if predicts_numbers(usual):
        truth = usual.label.values.astype(np.float64)
        return ERRORS.differences(changed.prediction.values, usual.prediction.values, truth, **options)
    return ACCURACIES.differences(_correct(changed), _correct(usual), usual.label.values, **options)


def log_loss(others: xr.Dataset, rng: np.random.Generator, replicates: int) -> list[Estimate]:
    """Log loss of a classifier; others: score matrix of the non-members."""
    options = {"rng": rng, "groups": others.unit.values, "replicates": replicates}
    return judge_log_loss(_losses(others), others.label.values, **options)


def log_loss_gap(changed: xr.Dataset, usual: xr.Dataset, rng: np.random.Generator, replicates: int) -> list[Estimate]:
    """The same minus that of the usual answers; both of the same non-members, model by model."""
    options = {"rng": rng, "groups": usual.unit.values, "replicates": replicates}
    return LOG_LOSS.differences(_losses(changed), _losses(usual), usual.label.values, **options)


def _losses(grid: xr.Dataset) -> Array:
    """Minus the log probability of the true label, (model, record)."""
    return np.minimum(loss(grid.logits.values.astype(float), labels(grid)), LARGEST_LOSS)


def _correct(grid: xr.Dataset) -> Array:
    """1 where the true class has the largest logit, (model, record); classes that tie for it share the 1.

    A tie counts as much as if one of its classes were drawn: forests and nearest neighbours have ties, networks hardly.
    """
    logits = grid.logits.values
    largest = logits == logits.max(-1, keepdims=True)
    return np.take_along_axis(largest, labels(grid)[..., None], axis=-1)[..., 0] / largest.sum(-1)
