"""Utility of PATE students: accuracy, or error, over repeats that differ in split, queries and noise.

TabPATE, Section 5.2. An interval has two parts, added in quadrature: variation over privacy units, from a bootstrap of
units, and variation over splits, queries and noise, from Student's t over the values of the repeats. A few repeats are
too few to resample; taken as given, the intervals are too narrow if repeats differ; t alone is too narrow if records
differ more than repeats, since all repeats test records of one table. Coverage of both together: docs/coverage.md.
Two repeats give wide intervals: the quantile of t is 12.7 there, 4.3 at three and 2.8 at five.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from memaudit.common.arrays import Array, Codes, Mask
from memaudit.statistics.attack_performance import Estimate
from memaudit.statistics.bootstrap import interval, two_way_weights
from memaudit.statistics.mean_interval import half_width

STUDY = "tabpate"
METRICS = {"classification": ("balanced accuracy", "accuracy"), "regression": ("nrmse",)}
DEVIATION = " deviation between repeats"
NO_ANSWER = -1  # code of a class that is never right


@dataclass(frozen=True)
class Scores:
    """repeats: (repeat,) numbers; observed: (repeat, metric); samples: (repeat, replicate, metric) of resampled units;
    cells: number of (repeat, tested record) entries; chance: (repeat, metric) value without a model."""

    metrics: Sequence[str]
    repeats: NDArray[np.int64]
    observed: Array
    samples: Array
    cells: int
    chance: Array

    def on(self, repeats: NDArray[np.int64]) -> "Scores":
        """Scores of some repeats, in the order of `repeats`."""
        place = {repeat: i for i, repeat in enumerate(self.repeats)}
        chosen = [place[repeat] for repeat in repeats]
        parts = self.observed[chosen], self.samples[chosen], self.cells, self.chance[chosen]
        return Scores(self.metrics, np.asarray(repeats), *parts)


@dataclass(frozen=True)
class Trial:
    """Tested records. truth: (record,) class codes, or numbers; tested: (repeat, record); weights: (replicate, record)
    how often each record is drawn, the same for all conditions."""

    task: Literal["classification", "regression"]
    truth: Array | Codes
    tested: Mask
    weights: Array

    def scores(self, predicted: Array | Codes, repeats: Sequence[int]) -> Scores:
        """Scores of predictions (repeat, record) in some repeats; predictions of untested records are ignored.

        Balanced accuracy ignores classes without a test record in the repeat or replicate. Error: root mean
        square, over the standard deviation of the tested true targets.
        """
        found, chance = zip(*(self._of_repeat(*pair) for pair in zip(predicted, repeats, strict=True)), strict=True)
        found, cells = np.stack(found), int(self.tested[list(repeats)].sum())
        return Scores(METRICS[self.task], np.array(repeats), found[:, 0], found[:, 1:], cells, np.array(chance))

    def constant(self, predicted: Array | Codes, repeats: Sequence[int]) -> Mask:
        """(repeat,) whether all tested records of a repeat have one prediction; predicted: (repeat, record)."""
        pairs = zip(predicted, repeats, strict=True)
        return np.array([len(np.unique(each[self.tested[repeat]])) < 2 for each, repeat in pairs])

    def guesses(self) -> Array | Codes:
        """Constant predictions (repeat, record): most frequent class, or mean, of the records not tested."""
        guess = _most_frequent if self.task == "classification" else np.mean
        known = [guess(self.truth[~tested]) for tested in self.tested]
        return np.repeat(np.array(known)[:, None], len(self.truth), axis=1)

    def _of_repeat(self, predicted: Array | Codes, repeat: int) -> tuple[Array, Array]:
        """Scores (1 + replicate, metric), the observed ones first, and chance levels (metric,)."""
        tested = self.tested[repeat]
        truth, weights = self.truth[tested], np.vstack([np.ones(tested.sum()), self.weights[:, tested]])
        if self.task == "regression":
            return _error(predicted[tested], truth, weights), np.ones(1)
        frequency = np.unique(truth, return_counts=True)[1] / len(truth)
        return _accuracies(predicted[tested], truth, weights), np.array([1 / len(frequency), frequency.max()])


def trial(
    task: Literal["classification", "regression"],
    truth: Array | Codes,
    tested: Mask,
    *,
    rng: np.random.Generator,
    groups: Codes,
    replicates: int = 200,
) -> Trial:
    """A trial with bootstrap weights of `replicates` replicates.

    truth: (record,); tested: (repeat, record); groups: (record,) records that are resampled together.
    """
    weights = np.zeros((replicates, len(truth)))
    ever = tested.any(0)
    weights[:, ever] = two_way_weights(1, int(ever.sum()), replicates, rng, groups[ever]).records
    return Trial(task, truth, tested, weights)


def estimates(scores: Scores) -> list[Estimate]:
    """Mean of each metric over repeats, and its standard deviation between repeats, which papers print."""
    found = []
    for place, metric in enumerate(scores.metrics):
        values, chance = scores.observed[:, place], float(scores.chance[:, place].mean())
        low, high, method = mean_of_repeats(values, scores.samples[..., place])
        most = np.inf if metric == "nrmse" else 1.0
        ends = float(np.clip(low, 0, most)), float(np.clip(high, 0, most))
        found.append(Estimate(metric, float(values.mean()), *ends, scores.cells, method, chance))
        if len(values) > 1:
            named = metric + DEVIATION, float(values.std(ddof=1)), np.nan, np.nan
            found.append(Estimate(*named, len(values), f"standard deviation of {len(values)} repeats", np.nan))
    return found


def differences(changed: Scores, usual: Scores) -> list[Estimate]:
    """Mean differences of the metrics over the common repeats: "accuracy difference", ...

    Both conditions have the same test records and bootstrap weights, so that variation between records and between
    splits cancels where they share it.
    """
    common = np.intersect1d(changed.repeats, usual.repeats)
    one, other = changed.on(common), usual.on(common)
    found = []
    for place, metric in enumerate(one.metrics):
        values = one.observed[:, place] - other.observed[:, place]
        low, high, method = mean_of_repeats(values, one.samples[..., place] - other.samples[..., place])
        mean = float(values.mean())
        found.append(Estimate(f"{metric} difference", mean, low, high, one.cells, f"{method}; paired", 0.0))
    return found


def mean_of_repeats(values: Array, samples: Array) -> tuple[float, float, str]:
    """95 % interval of the mean of repeats (repeat,) with their replicates (repeat, replicate), and its method."""
    mean, count = float(values.mean()), len(values)
    low, high = interval(samples.mean(0))
    below, above, method = max(mean - low, 0.0), max(high - mean, 0.0), f"units resampled {samples.shape[1]} times"
    if count == 1:
        return mean - below, mean + above, f"{method}, one repeat: other noise not counted"
    half = half_width(values)
    method = f"{method}, with Student's t over {count} repeats"
    return mean - float(np.hypot(below, half)), mean + float(np.hypot(above, half)), method


def _accuracies(predicted: Codes, truth: Codes, weights: Array) -> Array:
    """Balanced accuracy and accuracy, (replicate, 2); predicted, truth: (record,); weights: (replicate, record)."""
    hits, of_class = predicted == truth, (truth[:, None] == np.unique(truth)).astype(np.float64)
    with np.errstate(invalid="ignore"):
        recalls = (weights @ (hits[:, None] * of_class)) / (weights @ of_class)
        return np.column_stack([np.nanmean(recalls, 1), (weights @ hits) / weights.sum(1)])


def _error(predicted: Array, truth: Array, weights: Array) -> Array:
    """Root mean square error over the targets' deviation, (replicate, 1); arguments of `_accuracies`."""
    shares, centred = weights / weights.sum(1, keepdims=True), truth - truth.mean()
    variance = shares @ centred**2 - (shares @ centred) ** 2
    return np.sqrt((shares @ (predicted - truth) ** 2) / variance)[:, None]


def _most_frequent(codes: Codes) -> np.int64:
    return np.bincount(codes).argmax()
