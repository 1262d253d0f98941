"""Attribute inference: does a model tell a hidden column of a record, and tell it better of a member?

The adversary holds a record but for one sensitive column, its label included, tries every value in its place, and names
the most likely one (Yeom et al. 2018, Section 5). A good model guesses a stranger's value too, from the other columns:
that is what the table says about everybody and no leak of the record. What membership adds is the difference between
the sets that have the record in their context (IN cells) and those that have not (OUT cells), on the same records.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from memaudit.arrays import Array, Mask
from memaudit.statistics import bootstrap, roc
from memaudit.statistics.attack_performance import FPRS, SIGNIFICANT, Estimate

Draws = Iterable[tuple[Array, Array]]
SIDES = ("members", "non-members")


@dataclass(frozen=True)
class Guesses:
    """What the adversary says of each cell, and what is true.

    correct: (model, record), the most likely bin is the true one; score: (model, record), log posterior of one bin;
    positive: (record,), that bin is the true one; base: share of records whose bin is the reference's most frequent.
    """

    correct: Mask
    score: Array
    positive: Mask
    base: float


def guesses(posterior: Array, truth: NDArray[np.integer], prior: Array) -> Guesses:
    """What (log) posteriors (model, record, bin) say where truth (record,) is the bin; prior: (bin,) in the reference.

    The bin that AUC and TPR test for is bin 1 of two; of more, the most frequent truth against the rest.
    """
    tested = 1 if len(prior) == 2 else int(np.bincount(truth).argmax())
    base = float((truth == np.argmax(prior)).mean())
    return Guesses(posterior.argmax(-1) == truth, posterior[..., tested], truth == tested, base)


def judge_attribute(
    said: Guesses,
    design: Mask,
    *,
    fprs: Sequence[float] = FPRS,
    rng: np.random.Generator,
    groups: NDArray[np.int64] | None = None,
    replicates: int = 200,
    permutations: int = 39,
) -> dict[str, list[Estimate]]:
    """Accuracy, AUC and TPR at each FPR of "members" (IN cells), "non-members" (OUT cells), and their "difference".

    design: (model, record); groups: (record,) records that are resampled together. Intervals: two-way bootstrap with
    the same weights for both sides. Null: the base rate, 0.5 and the FPRs; for the difference, that of permuted rows
    of the design, with its p-value. Raises AuditError where all records have the tested bin, or none has.
    """
    weights = bootstrap.two_way_weights(*design.shape, replicates, rng, groups)
    drawn = list(zip(weights.models, weights.records, strict=True))
    once = [_once(design)]
    observed, samples = (_both_sides(said, design, fprs, draws) for draws in (once, drawn))
    permuted = [design[rng.permutation(len(design))] for _ in range(permutations)]
    null = np.vstack([np.subtract(*_both_sides(said, other, fprs, once)) for other in permuted])

    sides = zip(SIDES, (design, ~design), observed, samples, strict=True)
    estimates = {name: _side(said, cells, values, fprs) for name, cells, *values in sides}
    added = _side(said, np.ones_like(design), [np.subtract(*observed), np.subtract(*samples)], fprs)
    return estimates | {"difference": [_beside_null(one, below) for one, below in zip(added, null.T, strict=True)]}


def band(
    said: Guesses,
    cells: Mask,
    fprs: Array,
    *,
    rng: np.random.Generator,
    groups: NDArray[np.int64] | None = None,
    replicates: int = 200,
) -> Array:
    """TPR at each FPR over the chosen cells (model, record), with its 95 % two-way bootstrap interval: (fpr, 3)."""
    weights = bootstrap.two_way_weights(*cells.shape, replicates, rng, groups)
    tprs = _metrics(said, cells, fprs, [_once(cells)])[0, 2:]
    samples = _metrics(said, cells, fprs, zip(weights.models, weights.records, strict=True))[:, 2:]
    return np.array([(tpr, *bootstrap.interval(sample)) for tpr, sample in zip(tprs, samples.T, strict=True)])


def _both_sides(said: Guesses, design: Mask, fprs: Sequence[float], draws: Draws) -> Array:
    return np.stack([_metrics(said, cells, fprs, draws) for cells in (design, ~design)])


def _metrics(said: Guesses, cells: Mask, fprs: Sequence[float] | Array, draws: Draws) -> Array:
    """(draw, metric): accuracy, AUC and TPRs over the chosen cells, of which (m, r) weighs models[m] records[r]."""
    model, record = np.nonzero(cells)
    ranking = roc.rank(said.score[cells], said.positive[record])
    correct, order = said.correct[cells], ranking.order
    values = []
    for models, records in draws:
        weights = models[model] * records[record]
        fpr, tpr = roc.curve(ranking, weights[order])
        values.append([weights @ correct / weights.sum(), roc.area(fpr, tpr), *roc.at_fpr(fpr, tpr, fprs)])
    return np.array(values)


def _once(cells: Mask) -> tuple[Array, Array]:
    return np.ones(cells.shape[0]), np.ones(cells.shape[1])


def _side(said: Guesses, cells: Mask, values: Sequence[Array], fprs: Sequence[float]) -> list[Estimate]:
    """Estimates over the chosen cells; values: (1, metric) observed, and (replicate, metric)."""
    (observed,), samples = values
    method = f"two-way bootstrap, {len(samples)} replicates, both sides paired"
    positive = said.positive[np.nonzero(cells)[1]]
    warning = f", FPR below 1/{np.count_nonzero(~positive)} cells with another value: interpolated"
    notes = [method, method, *(method if ok else method + warning for ok in roc.resolved(fprs, positive))]
    names = ["accuracy", "auc", *(f"tpr@{fpr:g}" for fpr in fprs)]
    chance = [said.base, 0.5, *fprs]
    return [
        Estimate(name, float(value), *bootstrap.interval(sample), np.count_nonzero(cells), note, expected)
        for name, value, sample, note, expected in zip(names, observed, samples.T, notes, chance, strict=True)
    ]


def _beside_null(found: Estimate, null: Array) -> Estimate:
    centre, (null_low, null_high) = float(null.mean()), bootstrap.interval(null)
    p_value = float((1 + np.count_nonzero(null >= found.estimate)) / (len(null) + 1))
    detected = bool(p_value <= SIGNIFICANT and found.low > centre)
    return replace(found, null=centre, null_low=null_low, null_high=null_high, p_value=p_value, detected=detected)
