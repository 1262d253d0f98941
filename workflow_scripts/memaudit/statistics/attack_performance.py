"""How good is an attack, how sure is that, and could it be chance? The one door to intervals and nulls.

What chance does to LiRA's pooled AUC, measured without a leak: M models x N records, signals Gaussian, t_3, with
shared model effects, with shared factors, and bimodal as after a permuted design; balanced and Bernoulli(0.5) designs.
Range over those settings; half-width: the mean 95 % interval's over 1.96, to compare with the estimate's deviation over
seeds; missed: mean share of intervals without 0.5.

    fits leave out     M x N       mean AUC    deviation    half-width / 1.96   missed
    self, balanced     16 x 455    .488-.490   .008-.010    .012                .10
    self, Bernoulli    16 x 455    .499-.501   .008-.010    .012                .02
    pair               16 x 455    .499-.502   .007-.011    .012-.013           .02
    self               64 x 455    .499-.502   .003-.005    .006-.007           .02
    pair               64 x 455    .500-.501   .003-.005    .006-.007           .01
    pair               512 x 100   .499-.500   .003-.004    .004-.005           .01

Leaving out the target alone gives a member n - 1 IN and n OUT shadow models and a non-member the reverse, and the side
estimated better fits better: members score too low, at 16 models by a whole standard error. The remedy is to leave out
pairs (attacks.gaussian.Leave), the default of every calibration; nothing then needs re-centring. The misses are
fewer than 5 % because the two-way bootstrap errs to the wide side.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memaudit import tidy
from memaudit.arrays import Array, Mask
from memaudit.attacks.calibrate import Method, calibrate
from memaudit.attacks.registry import Attack
from memaudit.errors import AuditError
from memaudit.statistics import bootstrap, roc
from memaudit.workflow.progress_bar import steps

FPRS = (0.1, 0.01, 0.001)
ROC_FPRS = np.geomspace(1e-3, 1, 31)
SIGNIFICANT = 0.05
FEWEST_PERMUTATIONS = 19


@dataclass(frozen=True)
class Estimate:
    """One metric with its 95 % interval.

    n: cells; method: how the interval was made and what to mind; null: the value without a leak, 0.5 or the FPR, or the
    permutation null's mean where there is one; null_low, null_high: its 95 % range; p_value: of the permutation null.
    detected: p_value <= 0.05 *and* the interval lies above the null; never without a permutation null. Each question
    alone: of a hundred without a leak some five may be detected, nothing is corrected for their number.
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


@dataclass(frozen=True)
class Null:
    """Metrics of permuted designs: (permutation, metric), AUC first, then TPR at each FPR."""

    fprs: tuple[float, ...]
    values: Array


def judge_attack(
    attack: Attack,
    design: Mask,
    *,
    fprs: Sequence[float] = FPRS,
    rng: np.random.Generator,
    groups: NDArray[np.int64] | None = None,
    replicates: int = 200,
    permutations: int = 39,
) -> list[Estimate]:
    """`judge` of an attack's scores, with its own permutation null; design: (model, record); the rest as there."""
    values, method, options = attack
    null = permutation_null(values, design, method, rng, permutations, fprs=fprs, **options)
    scores = calibrate(values, design, method, **options)
    return judge(scores, design, fprs=fprs, rng=rng, groups=groups, replicates=replicates, null=null)


def rows(study: str, keys: Mapping[str, Any], estimates: Sequence[Estimate]) -> Iterator[dict[str, Any]]:
    """Estimates as tidy rows: each metric, and where it has a permutation null also "p-value" and "detected"."""
    for estimate in estimates:
        common = {"n": estimate.n, "method": estimate.method}
        interval = {"low": estimate.low, "high": estimate.high, "null": estimate.null}
        yield tidy.row(study, keys, estimate.metric, estimate.estimate, **interval, **common)
        if not np.isnan(estimate.p_value):
            yield tidy.row(study, keys, f"{estimate.metric} p-value", estimate.p_value, unit="probability", **common)
            yield tidy.row(study, keys, f"{estimate.metric} detected", estimate.detected, unit="yes or no", **common)


def judge(
    scores: Array,
    design: Mask,
    *,
    fprs: Sequence[float] = FPRS,
    rng: np.random.Generator,
    groups: NDArray[np.int64] | None = None,
    replicates: int = 200,
    null: Null | None = None,
) -> list[Estimate]:
    """AUC and TPR at each FPR over all cells, with two-way bootstrap intervals and the null.

    scores, design: (model, record), one model is enough; groups: (record,) records that are resampled together; null:
    `permutation_null` of the same grid and method. Raises AuditError where one class is empty, or where the null is for
    other FPRs.
    """
    if null is not None and null.fprs != tuple(fprs):
        raise AuditError(f"the permutation null is for FPRs {null.fprs} and not {tuple(fprs)}: make it with the same")
    ranking = roc.rank(scores, design)
    weights = bootstrap.two_way_weights(*design.shape, replicates, rng, groups)
    areas = bootstrap.auc_replicates(ranking, design.shape, weights)
    rates = bootstrap.tpr_replicates(ranking, np.asarray(fprs), design.shape, weights)
    samples = np.column_stack([areas, rates])
    names = ["auc", *(f"tpr@{fpr:g}" for fpr in fprs)]
    chance = [0.5, *fprs]
    notes = _notes(design, fprs, replicates)
    observed = _metrics(ranking, fprs)
    return [
        _estimate(names[i], observed[i], samples[:, i], design.size, notes[i], chance[i], null and null.values[:, i])
        for i in range(len(names))
    ]


def roc_band(
    scores: Array,
    design: Mask,
    fprs: Array,
    *,
    rng: np.random.Generator,
    groups: NDArray[np.int64] | None = None,
    replicates: int = 200,
) -> Array:
    """TPR at each FPR with its 95 % two-way bootstrap interval, as for `judge`: (fpr, 3), estimate, low, high."""
    ranking = roc.rank(scores, design)
    weights = bootstrap.two_way_weights(*design.shape, replicates, rng, groups)
    samples = bootstrap.tpr_replicates(ranking, fprs, design.shape, weights)
    tprs = roc.at_fpr(*roc.curve(ranking), fprs)
    return np.array([(tpr, *bootstrap.interval(sample)) for tpr, sample in zip(tprs, samples.T, strict=True)])


def curve_rows(
    study: str, keys: Mapping[str, Any], fprs: Array, band: Array, member: Mask, method: str
) -> Iterator[dict[str, Any]]:
    """A `roc_band` (fpr, 3) of cells `member`, any shape, as tidy rows of metric roc_tpr, with key fpr.

    The method names the FPRs below 1 / number of non-members, where the curve is read off between two thresholds.
    """
    for fpr, (tpr, low, high), note in zip(fprs, band, interpolated(member, fprs)[1:], strict=True):
        noted = {"n": member.size, "method": method + note}
        yield tidy.row(study, {**keys, "fpr": f"{fpr:.6g}"}, "roc_tpr", tpr, low=low, high=high, null=fpr, **noted)


def interpolated(member: Mask, fprs: Sequence[float] | Array) -> list[str]:
    """What to add to the method of an AUC, nothing, and of the TPR at each FPR below 1 / number of non-members."""
    outside = member.size - np.count_nonzero(member)
    warning = f", FPR below 1/{outside} non-members: interpolated"
    return ["", *("" if ok else warning for ok in roc.resolved(fprs, member))]


def permutation_null(
    grid: Array,
    design: Mask,
    method: str | Method,
    rng: np.random.Generator,
    permutations: int,
    *,
    fprs: Sequence[float] = FPRS,
    **options: Any,
) -> Null:
    """Metrics when the rows of the design belong to other models: no leak, all else as it is.

    Whole rows move, one permutation for all records, so that records that were in together stay so; every permuted
    design is calibrated anew, with `method` and its options. Raises AuditError for fewer than 19 permutations, whose
    p-value could not reach 0.05, or fewer than 5 models, which have fewer than that.
    """
    if permutations < FEWEST_PERMUTATIONS or len(design) < 5:
        raise AuditError(
            f"{permutations} permutations of {len(design)} models cannot give p <= {SIGNIFICANT}: ask for at least"
            f" {FEWEST_PERMUTATIONS} permutations of at least 5 models"
        )
    values = []
    for _ in steps(range(permutations), f"permuted designs, {method}"):
        permuted = design[rng.permutation(len(design))]
        values.append(_metrics(roc.rank(calibrate(grid, permuted, method, **options), permuted), fprs))
    return Null(tuple(fprs), np.array(values))


def _metrics(ranking: roc.Ranking, fprs: Sequence[float]) -> Array:
    fpr, tpr = roc.curve(ranking)
    return np.array([roc.area(fpr, tpr), *roc.at_fpr(fpr, tpr, fprs)])


def _notes(design: Mask, fprs: Sequence[float], replicates: int) -> list[str]:
    method = f"two-way bootstrap, {replicates} replicates"
    first_order = ", linear in the weights" if design.size > bootstrap.EXACT_CELLS else ""
    auc, *rates = interpolated(design, fprs)
    return [method + first_order + auc, *(method + note for note in rates)]


def _estimate(name, observed, sample, cells, method, chance, null) -> Estimate:
    low, high = bootstrap.interval(sample)
    if null is None:
        return Estimate(name, float(observed), low, high, cells, method, chance)
    centre = float(null.mean())
    p_value = (1 + np.count_nonzero(null >= observed)) / (len(null) + 1)
    detected = bool(p_value <= SIGNIFICANT and low > centre)
    return Estimate(
        name, float(observed), low, high, cells, method, centre, *bootstrap.interval(null), float(p_value), detected
    )
