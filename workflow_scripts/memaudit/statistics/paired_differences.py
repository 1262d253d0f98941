"""Differences between two attacks, or two attacked systems, under common bootstrap weights."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from memaudit.common.arrays import Array, Codes, Mask
from memaudit.statistics import bootstrap, roc, roc_replicates
from memaudit.statistics.attack_performance import Estimate, interpolated, where_resolved


def differences(
    changed: tuple[Array, Mask],
    usual: tuple[Array, Mask],
    *,
    fprs: Sequence[float],
    rng: np.random.Generator,
    groups: Codes | None = None,
    replicates: int = 200,
) -> list[Estimate]:
    """AUC and TPR of one attack minus those of another: "auc difference", "tpr@0.05 difference", ...

    changed, usual: scores and membership matrix, all of one shape (model, record), for the same records. Both are
    resampled with the same weights, so that noise common to the same contexts cancels. "detected": the 95 % interval of
    the two-way bootstrap excludes 0. There is none of a TPR whose FPR is not `roc.resolved`: NaN.
    """
    weights = bootstrap.two_way_weights(*usual[1].shape, replicates, rng, groups)
    (one, samples), (other, baseline) = (metric_samples(*pair, fprs, weights) for pair in (changed, usual))
    # Where the membership matrices have different numbers of non-members, the fewer decide what can be resolved.
    fewest = max((membership for _, membership in (changed, usual)), key=np.count_nonzero)
    estimates = gaps(
        ["auc", *(f"tpr@{fpr:g}" for fpr in fprs)], one - other, samples - baseline, usual[1].size, weights
    )
    notes = interpolated(fewest, fprs)
    return [
        replace(gap, method=gap.method + note)
        for gap, note in zip(resolved_gaps(estimates, fprs, fewest), notes, strict=True)
    ]


def gaps(
    metrics: Sequence[str],
    observed: Array,
    samples: Array,
    cells: int,
    weights: bootstrap.Weights,
    bound: float = 1.0,
) -> list[Estimate]:
    """Differences of metrics (metric,) with the intervals of their paired replicates (replicate, metric).

    weights: those of the replicates; bound: largest absolute difference that the metrics can have.
    """
    method = f"two-way bootstrap, {len(samples)} replicates, common weights"
    estimates = []
    for name, gap, sample in zip(metrics, observed, samples.T, strict=True):
        low, high = bootstrap.two_way_interval(sample, float(gap), weights, -bound, bound)
        detected = bool(low > 0 or high < 0)
        estimates.append(Estimate(f"{name} difference", float(gap), low, high, cells, method, 0.0, detected=detected))
    return estimates


def resolved_gaps(found: Sequence[Estimate], fprs: Sequence[float], membership: Mask) -> list[Estimate]:
    """Differences of the AUC and of the TPR at each FPR, without interval and verdict where not `roc.resolved`."""
    ends = [(gap.low, gap.high) for gap in found]
    ends[1:] = where_resolved(ends[1:], fprs, membership)
    return [
        replace(gap, low=low, high=high, detected=gap.detected and not np.isnan(low))
        for gap, (low, high) in zip(found, ends, strict=True)
    ]


def metric_samples(
    scores: Array, membership: Mask, fprs: Sequence[float], weights: bootstrap.Weights
) -> tuple[Array, Array]:
    """AUC, then TPR at each FPR, of scores (model, record): observed (metric,), and replicates (replicate, metric)."""
    ranking = roc.rank(scores, membership)
    samples = roc_replicates.auc_replicates(ranking, membership.shape, weights)[:, None]
    if len(fprs):
        rates = roc_replicates.tpr_replicates(ranking, np.asarray(fprs), membership.shape, weights)
        samples = np.column_stack([samples, rates])
    return _of_curve(roc.curve(ranking), fprs), samples


def observed_metrics(scores: Array, membership: Mask, fprs: Sequence[float]) -> Array:
    """AUC, then TPR at each FPR, of scores (model, record): (metric,)."""
    return _of_curve(roc.curve(roc.rank(scores, membership)), fprs)


def _of_curve(curve: tuple[Array, Array], fprs: Sequence[float]) -> Array:
    return np.array([roc.area(*curve), *(roc.at_fpr(*curve, fprs) if len(fprs) else [])])
