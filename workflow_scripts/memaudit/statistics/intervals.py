"""Intervals in closed form, for samples that are too small to bootstrap."""

import numpy as np
from scipy.stats import beta, norm
from scipy.stats import t as student_t

from memaudit.common.arrays import Array
from memaudit.statistics.bootstrap import LEVEL

TAIL = (1 - LEVEL) / 2
Z = norm.isf(TAIL)
NO_VARIANCE = 1e-12  # rounding


def clopper_pearson(successes: float, trials: float, tail: float = TAIL) -> tuple[float, float]:
    """Lower and upper bound on a share of independent trials, each missed with probability at most `tail`.

    Clopper and Pearson 1934: for every share and number of trials, unlike Wilson's interval, which covers a share of .1
    of 5 in 91 %. successes: may be fractional, as a share of several records per unit counted as of the units.
    """
    low = beta.ppf(tail, successes, trials - successes + 1) if successes > 0 else 0.0
    high = beta.isf(tail, successes + 1, trials - successes) if successes < trials else 1.0
    return float(low), float(high)


def korn_graubard(share: float, variance: float, trials: int, units: int) -> tuple[float, float]:
    """95 % interval of a share of dependent trials whose sampling variance is estimated: Korn and Graubard 1998.

    Clopper and Pearson's of p (1 - p) / variance effective trials, at most all, times the squared ratio of Student's
    quantiles with trials - 1 and units - 1 degrees of freedom. A share of 0 or 1, or without variance, counts as of the
    independent units, so that its interval is not empty. NaN gives NaN.
    """
    if np.isnan(share):
        return np.nan, np.nan
    effective = float(units)
    if variance > NO_VARIANCE and units > 1:
        ratio = student_t.isf(TAIL, trials - 1) / student_t.isf(TAIL, units - 1)
        effective = min(share * (1 - share) / variance, trials) * float(ratio) ** 2
    return clopper_pearson(share * effective, effective)


def mean_of(estimates: Array, low: Array, high: Array) -> tuple[float, float, float]:
    """Mean of independent estimates, (data set,) each, and its 95 % interval from the interval of each.

    Distances to the lower ends are added in quadrature, sqrt(sum (estimate - low)^2) / n, and likewise to the upper
    ends (MOVER: Zou and Donner 2008). The mean of one estimate has its interval, and intervals within [0, 1] give one
    within [0, 1]. The data sets are fixed: the interval covers other models and records of the same data sets, not
    other data sets. NaN where an interval is missing.
    """
    mean = float(np.mean(estimates))
    # A percentile interval need not contain its estimate.
    below, above = np.maximum(estimates - low, 0.0), np.maximum(high - estimates, 0.0)
    return mean, mean - float(np.linalg.norm(below)) / len(below), mean + float(np.linalg.norm(above)) / len(above)


def spearman(correlation: float, count: int) -> tuple[float, float]:
    """95 % interval of a rank correlation of a few points: Fisher's z with variance (1 + r^2 / 2) / (n - 3) (Bonett
    and Wright 2000).

    A perfect order has no finite z, so it is replaced by an order with two neighbours swapped. Up to three points give
    [-1, 1], NaN gives NaN. Intervals of unrelated points that exclude 0: at most .06 of 400 draws of 4 and of 7 points.
    """
    if np.isnan(correlation):
        return np.nan, np.nan
    if count <= 3:
        return -1.0, 1.0
    most = 1 - 12 / (count * (count**2 - 1))
    clipped = float(np.clip(correlation, -most, most))
    half = Z * np.sqrt((1 + clipped**2 / 2) / (count - 3))
    low, high = np.tanh([np.arctanh(clipped) - half, np.arctanh(clipped) + half])
    # The interval of the swapped order, widened to the perfect one.
    return min(float(low), correlation), max(float(high), correlation)
