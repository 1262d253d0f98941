"""Accuracy of the attacked system on records that are in no context."""

from dataclasses import replace

import numpy as np

from memaudit.common.arrays import Array, Codes, Mask
from memaudit.statistics.attack_performance import Estimate
from memaudit.statistics.bootstrap import Weights, effective_units, two_way_interval, two_way_weights
from memaudit.statistics.paired_differences import gaps

METRICS = ("accuracy", "balanced accuracy")


def judge_utility(
    correct: Mask, labels: Codes, *, rng: np.random.Generator, groups: Codes | None = None, replicates: int = 200
) -> list[Estimate]:
    """Accuracy and balanced accuracy, means over models and records, with two-way bootstrap intervals.

    correct: (model, record) whether the prediction is correct; labels: (record,) true classes; groups: (record,)
    records that are resampled together. null: the value for always predicting the most frequent class.
    """
    weights = two_way_weights(*correct.shape, replicates, rng, groups)
    frequency = np.unique(labels, return_counts=True)[1] / len(labels)
    samples, observed = _accuracies(correct, labels, weights).T, _observed(correct, labels)
    # Balanced accuracy is as uncertain as the recall of the rarest class.
    rarest = min(
        effective_units(np.flatnonzero(labels == one) if groups is None else groups[labels == one])
        for one in np.unique(labels)
    )
    drawn = weights, replace(weights, units=rarest)
    ends = [two_way_interval(*one, 0, 1) for one in zip(samples, observed, drawn, strict=True)]
    method = f"two-way bootstrap, {replicates} replicates"
    return [
        Estimate(name, value, *pair, correct.size, method, null)
        for name, value, pair, null in zip(METRICS, observed, ends, (frequency.max(), 1 / len(frequency)), strict=True)
    ]


def utility_differences(
    changed: Mask,
    usual: Mask,
    labels: Codes,
    *,
    rng: np.random.Generator,
    groups: Codes | None = None,
    replicates: int = 200,
) -> list[Estimate]:
    """Both accuracies minus those of the usual answers, (model, record) each: the same records, model by model."""
    weights = two_way_weights(*usual.shape, replicates, rng, groups)
    samples = _accuracies(changed, labels, weights) - _accuracies(usual, labels, weights)
    return gaps(METRICS, _observed(changed, labels) - _observed(usual, labels), samples, usual.size, weights)


def _observed(correct: Mask, labels: Codes) -> Array:
    models, records = correct.shape
    return _accuracies(correct, labels, Weights(np.ones((1, models)), np.ones((1, records))))[0]


def _accuracies(correct: Mask, labels: Codes, weights: Weights) -> Array:
    """(replicate, 2); classes that a replicate did not draw are left out of its mean."""
    hits = (weights.models @ correct) * weights.records
    total = weights.models.sum(1, keepdims=True) * weights.records
    of_class = (labels[:, None] == np.unique(labels)).astype(np.float64)
    with np.errstate(invalid="ignore"):
        recalls = (hits @ of_class) / (total @ of_class)
    return np.column_stack([hits.sum(1) / total.sum(1), np.nanmean(recalls, 1)])
