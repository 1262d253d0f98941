"""Error of an attacked regressor on records that are in no context: R2 and root mean square error."""

import numpy as np

from memaudit.common.arrays import Array, Codes
from memaudit.statistics.attack_performance import Estimate
from memaudit.statistics.bootstrap import Weights
from memaudit.statistics.model_utility import Utility


def judge_errors(
    predicted: Array, truth: Array, *, rng: np.random.Generator, groups: Codes | None = None, replicates: int = 200
) -> list[Estimate]:
    """R2 and RMSE, means of squares over models and records, with two-way bootstrap intervals.

    predicted: (model, record); truth: (record,) the true numbers; groups: (record,) records that are resampled
    together. RMSE is in the unit of the numbers. null: the value for always predicting the mean of `truth`.
    """
    nulls = (0.0, float(truth.std()))
    return ERRORS.judge(predicted, truth, nulls, rng=rng, groups=groups, replicates=replicates)


def _errors(predicted: Array, truth: Array, weights: Weights) -> Array:
    """(replicate, 2); R2 is not defined in a replicate whose numbers are all equal."""
    records, count = weights.records, weights.records.sum(1)
    squares = ((weights.models @ np.square(predicted - truth)) * records).sum(1)
    lost = squares / (weights.models.sum(1) * count)
    centred = truth - truth.mean()
    spread = records @ centred**2 / count - (records @ centred / count) ** 2
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.column_stack([np.where(spread > 0, 1 - lost / spread, np.nan), np.sqrt(lost)])


ERRORS = Utility(("r2", "rmse"), ((-np.inf, 1.0), (0.0, np.inf)), _errors)
