"""Attribute inference: accuracy on a hidden column, for members, for non-members, and the difference between them.

The adversary knows a record and its label except for one sensitive column, tries every value in its place, and predicts
the most likely one (Yeom et al. 2018, Section 5). A good model predicts the value of non-members too, from the other
columns; that is a property of the population and no leak of the record. The leak is the difference between contexts
with the record (IN entries) and without it (OUT entries), on the same records.

The test of the difference is studentised over models, so that effects of companions do not count; its size is on
docs/coverage.md.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memaudit.common.arrays import Array, Mask
from memaudit.data.membership_matrices import COLUMNS, Scheme
from memaudit.statistics import bootstrap, roc, roc_replicates
from memaudit.statistics.attack_performance import FPRS, Estimate, with_null
from memaudit.statistics.randomisation_tests import Null, p_value, require_draws, studentised_gaps
from memaudit.statistics.scorable_redraws import redraw

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
    scheme: Scheme = COLUMNS,
) -> dict[str, list[Estimate]]:
    """Accuracy, AUC and TPR at each FPR of "members" (IN entries), "non-members" (OUT entries), and their "difference".

    membership: (model, record); groups: (record,) records that are in together and are resampled together. Intervals:
    two-way bootstrap with the same weights for members and non-members. Null: the base rate, 0.5 and the FPRs; for the
    difference, that of `permutations` redraws of the membership matrix by its `scheme`, with the p-value of the
    studentised difference (`randomisation_tests`). Raises AuditError where all records have the tested bin, or none
    has.
    """
    weights = bootstrap.two_way_weights(*membership.shape, replicates, rng, groups)
    drawn = list(zip(weights.models, weights.records, strict=True))
    once = [_once(membership)]
    observed, samples = (_both_groups(predicted, membership, fprs, draws) for draws in (once, drawn))
    null = _null_of_difference(predicted, membership, fprs, permutations, scheme, groups, rng)

    by_group = zip(GROUPS, (membership, ~membership), observed, samples, strict=True)
    estimates = {name: _group(predicted, chosen, values, fprs, weights) for name, chosen, *values in by_group}
    added = [np.subtract(*observed), np.subtract(*samples)]
    added = _group(predicted, np.ones_like(membership), added, fprs, weights, least=-1)
    return estimates | {"difference": [with_null(one, null, i) for i, one in enumerate(added)]}


def _null_of_difference(
    predicted: Guesses,
    membership: Mask,
    fprs: Sequence[float],
    permutations: int,
    scheme: Scheme,
    groups: NDArray[np.int64] | None,
    rng: np.random.Generator,
) -> Null:
    """Metrics of members less those of non-members under redraws, with the p-values of the studentised ones."""
    require_draws(permutations, len(membership))
    matrices = [membership, *(redraw(scheme, membership, groups, rng) for _ in range(permutations))]
    once, influence = [_once(membership)], _influence(predicted, fprs)
    values = np.vstack([np.subtract(*_both_groups(predicted, one, fprs, once)) for one in matrices])
    pairs = zip(values, matrices, strict=True)
    studentised = np.array([studentised_gaps(value, influence, one, scheme) for value, one in pairs])
    return Null(tuple(fprs), values[1:], p_value(studentised[0], studentised[1:]))


def _influence(predicted: Guesses, fprs: Sequence[float]) -> Array:
    """What each entry adds to accuracy, AUC and TPR at each FPR over all entries: (metric, model, record).

    Of a TPR, the threshold moves with the records of other bins: by the slope of the curve (Hsieh and Turnbull 1996).
    """
    positive = np.broadcast_to(predicted.positive, predicted.correct.shape)
    share = np.where(positive, positive.mean(), 1 - positive.mean())
    ranking = roc.rank(predicted.score, positive)
    fpr, tpr = roc.curve(ranking)
    placed, _ = roc_replicates.placements(ranking, positive.shape)
    found = [predicted.correct - predicted.correct.mean(), (placed - roc.area(fpr, tpr)) / share]
    for rate in fprs:
        below, at, above = roc.at_fpr(fpr, tpr, [rate / 2, rate, min(1.5 * rate, 1.0)])
        slope = (above - below) / (min(1.5 * rate, 1.0) - rate / 2)
        (threshold,) = bootstrap.quantiles(predicted.score[~positive], [1 - rate])
        hit = predicted.score > threshold
        found.append(np.where(positive, hit - at, -slope * (hit - rate)) / share)
    return np.array(found)


def band(
    predicted: Guesses,
    chosen: Mask,
    fprs: Array,
    *,
    rng: np.random.Generator,
    groups: NDArray[np.int64] | None = None,
    replicates: int = 200,
) -> Array:
    """TPR at each FPR over the chosen entries (model, record), with its 95 % two-way bootstrap interval: (fpr, 3)."""
    weights = bootstrap.two_way_weights(*chosen.shape, replicates, rng, groups)
    tprs = _metrics(predicted, chosen, fprs, [_once(chosen)])[0, 2:]
    samples = _metrics(predicted, chosen, fprs, zip(weights.models, weights.records, strict=True))[:, 2:]
    ends = [bootstrap.two_way_interval(sample, tpr, weights, 0, 1) for tpr, sample in zip(tprs, samples.T, strict=True)]
    return np.column_stack([tprs, ends])


def _both_groups(predicted: Guesses, membership: Mask, fprs: Sequence[float], draws: Draws) -> Array:
    return np.stack([_metrics(predicted, chosen, fprs, draws) for chosen in (membership, ~membership)])


def _metrics(predicted: Guesses, chosen: Mask, fprs: Sequence[float] | Array, draws: Draws) -> Array:
    """(draw, metric): accuracy, AUC and TPRs over the chosen entries, of which (m, r) weighs models[m] records[r]."""
    model, record = np.nonzero(chosen)
    ranking = roc.rank(predicted.score[chosen], predicted.positive[record])
    correct, order = predicted.correct[chosen], ranking.order
    values = []
    for models, records in draws:
        weights = models[model] * records[record]
        fpr, tpr = roc.curve(ranking, weights[order])
        values.append([weights @ correct / weights.sum(), roc.area(fpr, tpr), *roc.at_fpr(fpr, tpr, fprs)])
    return np.array(values)


def _once(chosen: Mask) -> tuple[Array, Array]:
    return np.ones(chosen.shape[0]), np.ones(chosen.shape[1])


def _group(
    predicted: Guesses,
    chosen: Mask,
    values: Sequence[Array],
    fprs: Sequence[float],
    weights: bootstrap.Weights,
    least: float = 0,
) -> list[Estimate]:
    """Estimates over the chosen entries; values: (1, metric) observed, and (replicate, metric) of weights."""
    (observed,), samples = values
    method = f"two-way bootstrap, {len(samples)} replicates, members and non-members paired"
    positive = predicted.positive[np.nonzero(chosen)[1]]
    warning = f", FPR below {roc.FEWEST_ABOVE}/{np.count_nonzero(~positive)} entries with another value: interpolated"
    notes = [method, method, *(method if ok else method + warning for ok in roc.resolved(fprs, positive))]
    names = ["accuracy", "auc", *(f"tpr@{fpr:g}" for fpr in fprs)]
    chance = [predicted.base, 0.5, *fprs]
    return [
        Estimate(
            name,
            float(value),
            *bootstrap.two_way_interval(sample, value, weights, least, 1),
            np.count_nonzero(chosen),
            note,
            expected,
        )
        for name, value, sample, note, expected in zip(names, observed, samples.T, notes, chance, strict=True)
    ]
