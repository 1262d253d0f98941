"""How well the attacked model predicts records that are in no context: accuracies of classes, errors of numbers."""

import numpy as np
import xarray as xr

from memaudit.attacks.regression_signals import predicts_numbers
from memaudit.attacks.score_matrices import labels
from memaudit.attacks.signals import correctness
from memaudit.common.arrays import Mask
from memaudit.statistics.attack_performance import Estimate
from memaudit.statistics.model_utility import judge_utility, utility_differences
from memaudit.statistics.regression_utility import error_differences, judge_errors


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
        return error_differences(changed.prediction.values, usual.prediction.values, truth, **options)
    return utility_differences(_correct(changed), _correct(usual), usual.label.values, **options)


def _correct(grid: xr.Dataset) -> Mask:
    return correctness(grid.logits.values.astype(float), labels(grid)) > 0
