"""Error of an attacked regressor on records that are in no context: R2 and root mean square error."""

import numpy as np

from memaudit.common.arrays import Array, Codes
from memaudit.statistics.attack_performance import Estimate
from memaudit.statistics.bootstrap import Weights, two_way_interval, two_way_weights
from memaudit.statistics.paired_differences import gaps

METRICS = ("r2", "rmse")
RANGES = ((-np.inf, 1.0), (0.0, np.inf))


def judge_errors(
    predicted: Array, truth: Array, *, rng: np.random.Generator, groups: Codes | None = None, replicates: int = 200
) -> list[Estimate]:
    """R2 and RMSE, means of squares over models and records, with two-way bootstrap intervals.

    predicted: (model, record); truth: (record,) the true numbers; groups: (record,) records that are resampled
    together. RMSE is in the unit of the numbers. null: the value for always predicting the mean of `truth`.
    """
    weights = two_way_weights(*predicted.shape, replicates, rng, groups)
    samples, observed = _measures(predicted, truth, weights).T, _observed(predicted, truth)
    ends = [two_way_interval(*one, weights, *most) for *one, most in zip(samples, observed, RANGES, strict=True)]
    method, nulls = f"two-way bootstrap, {replicates} replicates", (0.0, float(truth.std()))
    return [
        Estimate(name, float(value), *pair, predicted.size, method, null)
        for name, value, pair, null in zip(METRICS, observed, ends, nulls, strict=True)
    ]


def error_differences(
    changed: Array,
    usual: Array,
    truth: Array,
    *,
    rng: np.random.Generator,
    groups: Codes | None = None,
    replicates: int = 200,
) -> list[Estimate]:
    """R2 and RMSE minus those of the usual predictions, (model, record) each: the same records, model by model."""
    weights = two_way_weights(*usual.shape, replicates, rng, groups)
    samples = _measures(changed, truth, weights) - _measures(usual, truth, weights)
    observed = _observed(changed, truth) - _observed(usual, truth)
    return gaps(METRICS, observed, samples, usual.size, weights, bound=np.inf)


def _observed(predicted: Array, truth: Array) -> Array:
    models, records = predicted.shape
    return _measures(predicted, truth, Weights(np.ones((1, models)), np.ones((1, records))))[0]


def _measures(predicted: Array, truth: Array, weights: Weights) -> Array:
    """(replicate, 2); R2 is not defined in a replicate whose numbers are all equal."""
    records, count = weights.records, weights.records.sum(1)
    squares = ((weights.models @ np.square(predicted - truth)) * records).sum(1)
    lost = squares / (weights.models.sum(1) * count)
    centred = truth - truth.mean()
    spread = records @ centred**2 / count - (records @ centred / count) ** 2
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.column_stack([np.where(spread > 0, 1 - lost / spread, np.nan), np.sqrt(lost)])
