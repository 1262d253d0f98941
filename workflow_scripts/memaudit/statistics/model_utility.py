"""Measures of how well an attacked system predicts records that are in no context: accuracies and the log loss."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from memaudit.common.arrays import Array, Codes
from memaudit.statistics.attack_performance import Estimate
from memaudit.statistics.bootstrap import Weights, effective_units, two_way_interval, two_way_weights, weighted_sum
from memaudit.statistics.paired_differences import gaps

METRICS = ("accuracy", "balanced accuracy")


class Utility(NamedTuple):
    """Measures of answers (model, record) on records whose truth (record,) is known.

    measured: (replicate, measure) of answers, truth and weights; ranges: least and largest value of each measure.
    """

    names: Sequence[str]
    ranges: Sequence[tuple[float, float]]
    measured: Callable[[Array, Array, Weights], Array]

    def judge(
        self,
        answers: Array,
        truth: Array,
        nulls: Sequence[float],
        *,
        rng: np.random.Generator,
        groups: Codes | None,
        replicates: int,
        units: Sequence[float | None] = (None, None),
    ) -> list[Estimate]:
        """Each measure over models and records with its two-way bootstrap interval.

        nulls: values of a prediction that reads no feature; groups: (record,) records that are resampled together;
        units: effective number of them behind each measure, None: of all records.
        """
        weights = two_way_weights(*answers.shape, replicates, rng, groups)
        samples, observed = self.measured(answers, truth, weights).T, self._observed(answers, truth)
        method, estimates = f"two-way bootstrap, {replicates} replicates", []
        parts = zip(self.names, samples, observed, self.ranges, nulls, units, strict=True)
        for name, sample, value, ends, null, count in parts:
            drawn = weights if count is None else replace(weights, units=count)
            pair = two_way_interval(sample, value, drawn, *ends)
            estimates.append(Estimate(name, float(value), *pair, answers.size, method, null))
        return estimates

    def differences(
        self,
        changed: Array,
        usual: Array,
        truth: Array,
        *,
        rng: np.random.Generator,
        groups: Codes | None = None,
        replicates: int = 200,
    ) -> list[Estimate]:
        """Each measure minus that of the usual answers, (model, record) each: the same records, model by model.

        groups: (record,) records that are resampled together.
        """
        weights = two_way_weights(*usual.shape, replicates, rng, groups)
        samples = self.measured(changed, truth, weights) - self.measured(usual, truth, weights)
        observed = self._observed(changed, truth) - self._observed(usual, truth)
        bound = max(most - least for least, most in self.ranges)
        return gaps(self.names, observed, samples, usual.size, weights, bound=bound)

    def _observed(self, answers: Array, truth: Array) -> Array:
        models, records = answers.shape
        return self.measured(answers, truth, Weights(np.ones((1, models)), np.ones((1, records))))[0]


def judge_utility(
    correct: Array, labels: Codes, *, rng: np.random.Generator, groups: Codes | None = None, replicates: int = 200
) -> list[Estimate]:
    """Accuracy and balanced accuracy, means over models and records, with two-way bootstrap intervals.

    correct: (model, record) whether the prediction is correct, or how likely where it is drawn; labels: (record,) true
    classes; groups: (record,) records that are resampled together. null: the value for always predicting the most
    frequent class.
    """
    frequency = np.unique(labels, return_counts=True)[1] / len(labels)
    # Balanced accuracy is as uncertain as the recall of the rarest class.
    rarest = min(
        effective_units(np.flatnonzero(labels == one) if groups is None else groups[labels == one])
        for one in np.unique(labels)
    )
    nulls, options = (frequency.max(), 1 / len(frequency)), {"rng": rng, "groups": groups, "replicates": replicates}
    return ACCURACIES.judge(correct, labels, nulls, units=(None, rarest), **options)


def judge_log_loss(
    losses: Array, labels: Codes, *, rng: np.random.Generator, groups: Codes | None = None, replicates: int = 200
) -> list[Estimate]:
    """Log loss in nats, the mean over models and records, with its two-way bootstrap interval.

    losses: (model, record) minus the log probability of the true label, at most LARGEST_LOSS; labels: (record,) true
    classes; groups: (record,) records that are resampled together. null: the entropy of the classes' frequencies.
    """
    share = np.unique(labels, return_counts=True)[1] / len(labels)
    entropy = float(-share @ np.log(share))
    return LOG_LOSS.judge(losses, labels, (entropy,), units=(None,), rng=rng, groups=groups, replicates=replicates)


def _mean_loss(losses: Array, labels: Codes, weights: Weights) -> Array:
    """(replicate, 1)."""
    total = weights.models.sum(1) * weights.records.sum(1)
    return (weighted_sum(losses, weights) / total)[:, None]


def _accuracies(correct: Array, labels: Codes, weights: Weights) -> Array:
    """(replicate, 2); classes that a replicate did not draw are left out of its mean."""
    hits = (weights.models @ correct) * weights.records
    total = weights.models.sum(1, keepdims=True) * weights.records
    of_class = (labels[:, None] == np.unique(labels)).astype(np.float64)
    with np.errstate(invalid="ignore"):
        recalls = (hits @ of_class) / (total @ of_class)
    return np.column_stack([hits.sum(1) / total.sum(1), np.nanmean(recalls, 1)])


ACCURACIES = Utility(METRICS, ((0.0, 1.0), (0.0, 1.0)), _accuracies)
# A model may give the true label no probability: it counts as LEAST, and so the interval of the mean has an end.
LEAST = 1e-12
LARGEST_LOSS = -float(np.log(LEAST))
LOG_LOSS = Utility(("log loss",), ((0.0, LARGEST_LOSS),), _mean_loss)
