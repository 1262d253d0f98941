"""Attribute inference: accuracy on a hidden column, for members, for non-members, and the difference between them.

The adversary knows a record and its label except for one sensitive column, tries every value in its place, and predicts
the most likely one (Yeom et al. 2018, Section 5). A good model predicts the value of non-members too, from the other
columns; that is a property of the population and no leak of the record. The leak is the difference between contexts
with the record (IN entries) and without it (OUT entries), on the same records.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from memaudit.arrays import Array, Mask
from memaudit.statistics import bootstrap, roc
from memaudit.statistics.attack_performance import FPRS, SIGNIFICANT, Estimate

Draws = Iterable[tuple[Array, Array]]
GROUPS = ("members", "non-members")


@dataclass(frozen=True)
class Guesses:
    """Predictions of the adversary for each (model, record) entry, and the truth.

    correct: (model, record), the most likely bin is the true one; score: (model, record), log posterior of one bin;
    positive: (record,), that bin is the true one; base: share of records whose bin is the reference's most frequent.
    """

    correct: Mask
    score: Array
    positive: Mask
    base: float


def guesses(posterior: Array, truth: NDArray[np.integer], prior: Array) -> Guesses:
    """Predictions from (log) posteriors (model, record, bin).

    truth: (record,) true bins; prior: (bin,) in the reference.

    The bin that AUC and TPR test for is bin 1 of two; of more, the most frequent truth against the rest.
    """
    tested = 1 if len(prior) == 2 else int(np.bincount(truth).argmax())
    base = float((truth == np.argmax(prior)).mean())
    return Guesses(posterior.argmax(-1) == truth, posterior[..., tested], truth == tested, base)


def judge_attribute(
    predicted: Guesses,
    membership: Mask,
    *,
    fprs: Sequence[float] = FPRS,
    rng: np.random.Generator,
    groups: NDArray[np.int64] | None = None,
    replicates: int = 200,
    permutations: int = 39,
) -> dict[str, list[Estimate]]:
    """Accuracy, AUC and TPR at each FPR of "members" (IN cells), "non-members" (OUT cells), and their "difference".

    membership: (model, record); groups: (record,) records that are resampled together. Intervals: two-way bootstrap
    with the same weights for members and non-members. Null: the base rate, 0.5 and the FPRs; for the difference, that
    of permuted rows of the membership matrix, with its p-value. Raises AuditError where all records have the tested
    bin, or none has.
    """
    weights = bootstrap.two_way_weights(*membership.shape, replicates, rng, groups)
    drawn = list(zip(weights.models, weights.records, strict=True))
    once = [_once(membership)]
    observed, samples = (_both_groups(predicted, membership, fprs, draws) for draws in (once, drawn))
    permuted = [membership[rng.permutation(len(membership))] for _ in range(permutations)]
    null = np.vstack([np.subtract(*_both_groups(predicted, other, fprs, once)) for other in permuted])

    by_group = zip(GROUPS, (membership, ~membership), observed, samples, strict=True)
    estimates = {name: _group(predicted, cells, values, fprs) for name, cells, *values in by_group}
    added = _group(predicted, np.ones_like(membership), [np.subtract(*observed), np.subtract(*samples)], fprs)
    return estimates | {"difference": [_with_null(one, below) for one, below in zip(added, null.T, strict=True)]}


def band(
    predicted: Guesses,
    cells: Mask,
    fprs: Array,
    *,
    rng: np.random.Generator,
    groups: NDArray[np.int64] | None = None,
    replicates: int = 200,
) -> Array:
    """TPR at each FPR over the chosen cells (model, record), with its 95 % two-way bootstrap interval: (fpr, 3)."""
    weights = bootstrap.two_way_weights(*cells.shape, replicates, rng, groups)
    tprs = _metrics(predicted, cells, fprs, [_once(cells)])[0, 2:]
    samples = _metrics(predicted, cells, fprs, zip(weights.models, weights.records, strict=True))[:, 2:]
    return np.array([(tpr, *bootstrap.interval(sample)) for tpr, sample in zip(tprs, samples.T, strict=True)])


def _both_groups(predicted: Guesses, membership: Mask, fprs: Sequence[float], draws: Draws) -> Array:
    return np.stack([_metrics(predicted, cells, fprs, draws) for cells in (membership, ~membership)])


def _metrics(predicted: Guesses, cells: Mask, fprs: Sequence[float] | Array, draws: Draws) -> Array:
    """(draw, metric): accuracy, AUC and TPRs over the chosen cells, of which (m, r) weighs models[m] records[r]."""
    model, record = np.nonzero(cells)
    ranking = roc.rank(predicted.score[cells], predicted.positive[record])
    correct, order = predicted.correct[cells], ranking.order
    values = []
    for models, records in draws:
        weights = models[model] * records[record]
        fpr, tpr = roc.curve(ranking, weights[order])
        values.append([weights @ correct / weights.sum(), roc.area(fpr, tpr), *roc.at_fpr(fpr, tpr, fprs)])
    return np.array(values)


def _once(cells: Mask) -> tuple[Array, Array]:
    return np.ones(cells.shape[0]), np.ones(cells.shape[1])


def _group(predicted: Guesses, cells: Mask, values: Sequence[Array], fprs: Sequence[float]) -> list[Estimate]:
    """Estimates over the chosen cells; values: (1, metric) observed, and (replicate, metric)."""
    (observed,), samples = values
    method = f"two-way bootstrap, {len(samples)} replicates, both sides paired"
    positive = predicted.positive[np.nonzero(cells)[1]]
    warning = f", FPR below 1/{np.count_nonzero(~positive)} cells with another value: interpolated"
    notes = [method, method, *(method if ok else method + warning for ok in roc.resolved(fprs, positive))]
    names = ["accuracy", "auc", *(f"tpr@{fpr:g}" for fpr in fprs)]
    chance = [predicted.base, 0.5, *fprs]
    return [
        Estimate(name, float(value), *bootstrap.interval(sample), np.count_nonzero(cells), note, expected)
        for name, value, sample, note, expected in zip(names, observed, samples.T, notes, chance, strict=True)
    ]


def _with_null(estimate: Estimate, null: Array) -> Estimate:
    centre, (null_low, null_high) = float(null.mean()), bootstrap.interval(null)
    p_value = float((1 + np.count_nonzero(null >= estimate.estimate)) / (len(null) + 1))
    detected = bool(p_value <= SIGNIFICANT and estimate.low > centre)
    return replace(estimate, null=centre, null_low=null_low, null_high=null_high, p_value=p_value, detected=detected)
