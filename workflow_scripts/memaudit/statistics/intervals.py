"""Intervals in closed form, where a bootstrap has too little to draw from."""

import numpy as np
from scipy.stats import norm

from memaudit.arrays import Array
from memaudit.statistics.bootstrap import LEVEL

Z = norm.ppf((1 + LEVEL) / 2)


def wilson(share: float, count: int) -> tuple[float, float]:
    """95 % interval of a share of `count` independent trials (Wilson 1927); of 0 or 1 it still has a width."""
    middle = share + Z**2 / (2 * count)
    half = Z * np.sqrt(share * (1 - share) / count + Z**2 / (4 * count**2))
    scale = 1 + Z**2 / count
    # At 0 and 1 rounding would leave the last digit.
    return float((middle - half) / scale) if share > 0 else 0.0, float((middle + half) / scale) if share < 1 else 1.0


def mean_of(estimates: Array, low: Array, high: Array) -> tuple[float, float, float]:
    """Mean of independent estimates, (data set,) each, and its 95 % interval from the interval of each.

    Each side from the same sides of all: sqrt(sum (estimate - low)^2) / n below (MOVER: Zou and Donner 2008).
    So the mean of one is that one with its interval, and a mean of rates whose intervals lie in [0, 1] does so, too.
    The data sets are taken as given: it says how the mean would vary with other models and records of the same data
    sets, not with other data sets. NaN where an interval is missing.
    """
    mean = float(np.mean(estimates))
    # A percentile interval may lie beside its estimate.
    below, above = np.maximum(estimates - low, 0.0), np.maximum(high - estimates, 0.0)
    return mean, mean - float(np.linalg.norm(below)) / len(below), mean + float(np.linalg.norm(above)) / len(above)


def spearman(correlation: float, count: int) -> tuple[float, float]:
    """95 % interval of a rank correlation of a few points: Fisher's z with variance (1 + r^2 / 2) / (n - 3) (Bonett
    and Wright 2000).

    A perfect order has no z: it counts as one in which two neighbours are swapped. Three points or fewer say nothing:
    [-1, 1]. NaN of NaN. Intervals of unrelated points without 0: 400 draws each of 4 and of 7 points, at most 0.06.
    """
    if np.isnan(correlation):
        return np.nan, np.nan
    if count <= 3:
        return -1.0, 1.0
    most = 1 - 12 / (count * (count**2 - 1))
    held = float(np.clip(correlation, -most, most))
    half = Z * np.sqrt((1 + held**2 / 2) / (count - 3))
    low, high = np.tanh([np.arctanh(held) - half, np.arctanh(held) + half])
    return float(low), max(float(high), correlation) if correlation > 0 else float(high)
