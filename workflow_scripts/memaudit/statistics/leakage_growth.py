"""AUC of a calibrated attack against the number of shadow contexts, and its limit with many contexts.

A score that compares with m contexts estimates a record's means with an error of variance c/m. With answers that are
normal about means that differ by d deviations the AUC of LiRA is then Phi(d^2 / sqrt(2 (d^2 + c/m))): on the probit
scale q(m) = q / sqrt(1 + c/m), with the limit q at many contexts. The curve is fitted with c at least 0 to the AUCs at
several m. Records of different d follow it approximately: docs/coverage.md.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.stats import norm

from memaudit.common.arrays import Array, Mask
from memaudit.statistics import bootstrap
from memaudit.statistics.attack_performance import TINY, Estimate, sampled_auc
from memaudit.statistics.strongest_score import Panel

FEWEST = 8  # contexts
CURVATURES = np.append(0.0, np.geomspace(0.1, 1e4, 200))  # c
FITTED, FITTED_FROM = 3, 16  # the curve is fitted to the largest numbers of contexts, of at least as many
UNBOUNDED = 0.025  # share of replicates with the largest c, from which on there is no limit


class Growth(NamedTuple):
    """AUC at each number of contexts, and at many; limit: None where it cannot be told, for the reason."""

    sizes: Sequence[int]
    at: Sequence[Estimate]
    limit: Estimate | None
    reason: str = ""


def sizes_of(models: int) -> list[int]:
    """Numbers of contexts to compare: 8, 16, 32, ... and all."""
    doubled = FEWEST * 2 ** np.arange(int(np.log2(max(models // FEWEST, 1))) + 1)
    return [int(size) for size in doubled if size < models] + [models]


def growth(panel: Panel, name: str, rng: np.random.Generator, replicates: int, detected: bool) -> Growth:
    """The AUC of one attack of a panel with fewer contexts, and with many.

    Contexts are cut into parts of the same size, and each is scored by its own part alone. The intervals are of the
    two-way bootstrap with the same draws of contexts and targets at every size. detected: whether a leak is.
    """
    models, targets = panel.membership.shape
    weights = bootstrap.two_way_weights(models, targets, replicates, rng, panel.groups)
    sizes, found, samples = sizes_of(models), [], []
    for size in sizes:
        used = models // size * size
        parts = [_slice(panel, start, size).scores(name) for start in range(0, used, size)]
        of_used = bootstrap.Weights(weights.models[:, :used], weights.records, weights.units)
        method = f"{used // size} parts of {size} contexts"
        at, drawn = sampled_auc(np.concatenate(parts), panel.membership[:used], of_used, method)
        found.append(at)
        samples.append(drawn)
    limit, reason = _limit(sizes, found, np.array(samples), weights, detected)
    return Growth(sizes, found, limit, reason)


def limit_of(sizes: Sequence[int], aucs: Array) -> tuple[Array, Array]:
    """The AUC with many contexts, and c, from the AUCs (size,) or (size, replicate) at numbers of contexts (size,)."""
    shapes = 1 / np.sqrt(1 + CURVATURES[:, None] / np.asarray(sizes))
    probits = norm.ppf(np.clip(aucs.reshape(len(sizes), -1), TINY, 1 - TINY))
    limits = shapes @ probits / (shapes**2).sum(1, keepdims=True)
    residuals = (probits**2).sum(0) - limits**2 * (shapes**2).sum(1, keepdims=True)
    best = residuals.argmin(0)
    return norm.cdf(limits[best, np.arange(len(best))]), CURVATURES[best]


def _limit(
    sizes: Sequence[int], found: Sequence[Estimate], samples: Array, weights: bootstrap.Weights, detected: bool
) -> tuple[Estimate | None, str]:
    """The limit with its interval, or why it cannot be told."""
    if not detected:
        return None, "no leak is detected, so there is no growth to extrapolate"
    kept = [place for place, size in enumerate(sizes) if size >= FITTED_FROM][-FITTED:]
    if len(kept) < FITTED:
        return None, f"{sizes[-1]} contexts are too few to extrapolate from"
    fitted = np.array(sizes)[kept]
    (value,), (curvature,) = limit_of(fitted, np.array([found[place].estimate for place in kept]))
    limits, curvatures = limit_of(fitted, samples[kept])
    if max(float(curvature == CURVATURES[-1]), (curvatures == CURVATURES[-1]).mean()) > UNBOUNDED:
        return None, "the AUC still grows with the number of contexts as fast as at the smallest number"
    low, high = bootstrap.two_way_interval(limits, float(value), weights, 0, 1)
    return Estimate(
        "auc", float(value), low, high, found[-1].n, "probit curve in 1 / contexts, two-way bootstrap", 0.5
    ), ""


def _slice(panel: Panel, start: int, size: int) -> Panel:
    chosen: Mask = np.zeros(len(panel.membership), bool)
    chosen[start : start + size] = True
    return panel.of_contexts(chosen)
