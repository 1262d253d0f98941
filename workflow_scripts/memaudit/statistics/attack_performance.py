"""Performance of an attack: AUC and TPR with bootstrap intervals, randomisation nulls and p-values.

Leave-one-out gives a member n - 1 IN and n OUT shadow models and a non-member the reverse, and the distribution that is
estimated from more models fits better: members score too low, and the AUC without a leak is below 0.5 at few models.
Leave-pair-out (attacks.shadow_sides.Leave), the default of every calibration, removes this bias for many records. With
few records the AUC of no leak stays below 0.5, since a target often competes with entries of its own record, whose fits
contain it: so every estimate is compared with the mean of its randomisation null, which has the same bias. The two-way
bootstrap is conservative: docs/coverage.md.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memaudit.attacks.attack_entry import Attack
from memaudit.attacks.calibrate import calibrate
from memaudit.common import tidy
from memaudit.common.arrays import Array, Mask
from memaudit.common.errors import AuditError
from memaudit.data.membership_matrices import COLUMNS, Scheme
from memaudit.statistics import bootstrap, roc, roc_replicates
from memaudit.statistics.randomisation_tests import Null, p_value, randomisation_null

FPRS = (0.1, 0.01, 0.001)
ROC_FPRS = np.geomspace(1e-3, 1, 31)
STRICT_ROC_FPRS = np.geomspace(1e-4, 1, 41)
SIGNIFICANT = 0.05
TINY = 1e-6  # AUCs are kept as far from 0 and 1, where a probit or a logit is infinite


@dataclass(frozen=True)
class Estimate:
    """One metric with its 95 % interval.

    n: number of (model, record) entries; method: how the interval was made, with caveats; null: the value without a
    leak: the mean of the randomisation null, or without one 0.5 or the FPR; null_low, null_high: its 95 % range;
    p_value: of the randomisation test. detected: p_value <= 0.05 *and* the interval lies above the null; never without
    a randomisation null. There is no correction for multiple tests: of 100 without a leak about five may be detected.
    """

    metric: str
    estimate: float
    low: float
    high: float
    n: int
    method: str
    null: float
    null_low: float = np.nan
    null_high: float = np.nan
    p_value: float = np.nan
    detected: bool = False


def judge_options(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Keyword arguments `fprs`, `replicates` and `permutations` of the judges from a study's `settings`.

    settings: keys fpr, replicates and permutations of a config's section.
    """
    return {"fprs": settings["fpr"], "replicates": settings["replicates"], "permutations": settings["permutations"]}


def judge_attack(
    attack: Attack,
    membership: Mask,
    *,
    fprs: Sequence[float] = FPRS,
    rng: np.random.Generator,
    groups: NDArray[np.int64] | None = None,
    replicates: int = 200,
    permutations: int = 39,
    scheme: Scheme = COLUMNS,
) -> list[Estimate]:
    """`judge` of an attack's scores, with its own randomisation null; membership: (model, record).

    permutations: number of redraws of the membership matrix by its `scheme`, in which the records of a group are in
    together; the rest as for `judge`.
    """
    values, method, options = attack
    null = randomisation_null(
        values, membership, method, rng, permutations, fprs=fprs, scheme=scheme, units=groups, **options
    )
    scores = calibrate(values, membership, method, **options)
    return judge(scores, membership, fprs=fprs, rng=rng, groups=groups, replicates=replicates, null=null)


def rows(study: str, keys: Mapping[str, Any], estimates: Sequence[Estimate]) -> Iterator[dict[str, Any]]:
    """Estimates as tidy rows: each metric, and where it has a randomisation null also "p-value" and "detected"."""
    for estimate in estimates:
        common = {"n": estimate.n, "method": estimate.method}
        interval = {"low": estimate.low, "high": estimate.high, "null": estimate.null}
        yield tidy.row(study, keys, estimate.metric, estimate.estimate, **interval, **common)
        if not np.isnan(estimate.p_value):
            yield tidy.row(study, keys, f"{estimate.metric} p-value", estimate.p_value, unit="probability", **common)
            yield tidy.row(study, keys, f"{estimate.metric} detected", estimate.detected, unit="yes or no", **common)


def judge(
    scores: Array,
    membership: Mask,
    *,
    fprs: Sequence[float] = FPRS,
    rng: np.random.Generator,
    groups: NDArray[np.int64] | None = None,
    replicates: int = 200,
    null: Null | None = None,
) -> list[Estimate]:
    """AUC and TPR at each FPR over all (model, record) entries, with two-way bootstrap intervals and the null.

    scores, membership: (model, record), one model is enough; groups: (record,) records that are resampled together;
    null: `randomisation_null` of the same score matrix and method. NaN for the interval of a TPR whose FPR is not
    `roc.resolved`. Raises AuditError where one class is empty, or where the null is for other FPRs.
    """
    if null is not None and null.fprs != tuple(fprs):
        raise AuditError(f"the randomisation null is for FPRs {null.fprs} and not {tuple(fprs)}: make it with the same")
    ranking = roc.rank(scores, membership)
    weights = bootstrap.two_way_weights(*membership.shape, replicates, rng, groups)
    areas = roc_replicates.auc_replicates(ranking, membership.shape, weights)
    rates = roc_replicates.tpr_replicates(ranking, np.asarray(fprs), membership.shape, weights)
    samples = np.column_stack([areas, rates])
    names = ["auc", *(f"tpr@{fpr:g}" for fpr in fprs)]
    chance = [0.5, *fprs]
    notes = _notes(membership, fprs, replicates)
    observed = _metrics(ranking, fprs)
    pairs = zip(samples.T, observed, strict=True)
    ends = [bootstrap.two_way_interval(sample, value, weights, 0, 1) for sample, value in pairs]
    ends[1:] = where_resolved(ends[1:], fprs, membership)
    return [
        with_null(Estimate(name, float(value), *between, membership.size, note, expected), null, i)
        for i, (name, value, between, note, expected) in enumerate(
            zip(names, observed, ends, notes, chance, strict=True)
        )
    ]


def sampled_auc(
    scores: Array, membership: Mask, weights: bootstrap.Weights, method: str = "two-way bootstrap"
) -> tuple[Estimate, Array]:
    """AUC over all (model, record) entries with its interval, and its samples (replicate,) of these weights."""
    ranking = roc.rank(scores, membership)
    samples, value = roc_replicates.auc_replicates(ranking, membership.shape, weights), roc.area(*roc.curve(ranking))
    ends = bootstrap.two_way_interval(samples, value, weights, 0, 1)
    return Estimate("auc", value, *ends, membership.size, method, 0.5), samples


def roc_band(
    scores: Array,
    membership: Mask,
    fprs: Array,
    *,
    rng: np.random.Generator,
    groups: NDArray[np.int64] | None = None,
    replicates: int = 200,
) -> Array:
    """TPR at each FPR with its 95 % two-way bootstrap interval, as for `judge`: (fpr, 3), estimate, low, high."""
    ranking = roc.rank(scores, membership)
    weights = bootstrap.two_way_weights(*membership.shape, replicates, rng, groups)
    samples = roc_replicates.tpr_replicates(ranking, fprs, membership.shape, weights)
    tprs = roc.at_fpr(*roc.curve(ranking), fprs)
    ends = [bootstrap.two_way_interval(sample, tpr, weights, 0, 1) for tpr, sample in zip(tprs, samples.T, strict=True)]
    return np.column_stack([tprs, where_resolved(ends, fprs, membership)])


def where_resolved(
    ends: Sequence[tuple[float, float]], fprs: Sequence[float] | Array, member: Mask
) -> list[tuple[float, float]]:
    """Intervals of the TPR at each FPR; NaN for those at FPRs that are not `roc.resolved`."""
    return [pair if ok else (np.nan, np.nan) for pair, ok in zip(ends, roc.resolved(fprs, member), strict=True)]


def curve_rows(
    study: str, keys: Mapping[str, Any], fprs: Array, band: Array, member: Mask, method: str
) -> Iterator[dict[str, Any]]:
    """A `roc_band` (fpr, 3) of entries `member`, any shape, as tidy rows of metric roc_tpr, with key fpr.

    The method names the FPRs that are not `roc.resolved`, where the curve is read off between two thresholds.
    """
    for fpr, (tpr, low, high), note in zip(fprs, band, interpolated(member, fprs)[1:], strict=True):
        noted = {"n": member.size, "method": method + note}
        yield tidy.row(study, {**keys, "fpr": f"{fpr:.6g}"}, "roc_tpr", tpr, low=low, high=high, null=fpr, **noted)


def interpolated(member: Mask, fprs: Sequence[float] | Array) -> list[str]:
    """Method notes of an AUC (empty) and of the TPR at each FPR: a warning where it is not `roc.resolved`."""
    outside = member.size - np.count_nonzero(member)
    warning = f", FPR below {roc.FEWEST_ABOVE}/{outside} non-members: interpolated"
    return ["", *("" if ok else warning for ok in roc.resolved(fprs, member))]


def _metrics(ranking: roc.Ranking, fprs: Sequence[float]) -> Array:
    fpr, tpr = roc.curve(ranking)
    return np.array([roc.area(fpr, tpr), *roc.at_fpr(fpr, tpr, fprs)])


def _notes(membership: Mask, fprs: Sequence[float], replicates: int) -> list[str]:
    method = f"two-way bootstrap, {replicates} replicates"
    first_order = ", linear in the weights" if membership.size > roc_replicates.EXACT_CELLS else ""
    auc, *rates = interpolated(membership, fprs)
    return [method + first_order + auc, *(method + note for note in rates)]


def with_null(estimate: Estimate, null: Null | None, metric: int) -> Estimate:
    """The estimate with the mean, range and p-value of the null of this metric; unchanged without a null."""
    if null is None:
        return estimate
    values = null.values[:, metric]
    low, high = bootstrap.interval(values)
    p = p_value(np.float64(estimate.estimate), values) if null.p_values is None else null.p_values[metric]
    detected = bool(p <= SIGNIFICANT and estimate.low > values.mean())
    made = {"null": float(values.mean()), "null_low": low, "null_high": high}
    return replace(estimate, **made, p_value=float(p), detected=detected)
