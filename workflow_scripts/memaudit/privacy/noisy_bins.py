"""Edges of bins from noisy counts of dyadic intervals, paid from the budget (as PrivTree, Zhang, Xiao and Xie 2016).

A column's public range is halved LEVELS times. The counts of all intervals of all levels are released once with
discrete Gaussian noise; intervals are then split where the noisy counts say that many records are, the fullest one
first. That is post-processing. Noise is Gaussian, not Laplace with PrivTree's bias: counts of several levels and
columns compose in L2 norm, which costs less than PrivTree's constant for a depth of eight.

Sensitivity. Adding or removing one row changes one count by 1 in each level of each column, so that the L2 norm of the
change is sqrt(LEVELS * columns), exactly: counts are integers. The release is rho-zCDP with
rho = LEVELS * columns / (2 sigma^2).
"""

import heapq
import math

import numpy as np
from numpy.typing import NDArray

from memaudit.common.arrays import Array
from memaudit.privacy.accounting import Budget, rho_within
from memaudit.privacy.discrete_noise import Noise, discrete_gaussian

LEVELS = 8  # the narrowest interval is 1/256 of the public range
EQUAL = 2  # levels that are split whatever the counts: four equal bins, where the budget tells no more
LEAST = 3.0  # below them, noisy counts below this many deviations of the noise are not split
MARGIN = 1e-3  # share of rho left unused, more than two conversions of rho differ by


def noisy_edges(positions: Array, rho: float, bins: int, noise: Noise = discrete_gaussian) -> list[Array]:
    """Edges in [0, 1] of at most `bins` bins of each column: arrays from 0 to 1.

    positions: (row, column), in [0, 1] of the public range, one row for each unit; rho: zCDP cost of the release.
    """
    columns = positions.shape[1]
    if not columns:
        return []
    sigma = math.sqrt(LEVELS * columns / (2 * rho))
    noisy = noise(dyadic_counts(positions), sigma)
    return [_split(column, bins, LEAST * sigma) for column in noisy]


def dyadic_counts(positions: Array) -> NDArray[np.int64]:
    """Rows in each interval: (column, interval), the two halves first, then the four quarters, and so on."""
    finest = np.clip(positions * 2**LEVELS, 0, 2**LEVELS - 1).astype(np.int64)
    levels = [
        np.stack([np.bincount(cells >> (LEVELS - level), minlength=2**level) for cells in finest.T])
        for level in range(1, LEVELS + 1)
    ]
    return np.concatenate(levels, axis=1).astype(np.int64)


def remaining(budget: Budget, share: float) -> tuple[float, Budget]:
    """rho of a share of the budget, and a budget at the same delta whose rho is the rest."""
    rho = rho_within(budget)
    low, high = 0.0, budget.epsilon
    while high - low > 1e-9 * budget.epsilon:
        middle = (low + high) / 2
        if rho_within(Budget(middle, budget.delta)) <= (1 - share) * (1 - MARGIN) * rho:
            low = middle
        else:
            high = middle
    return share * rho, Budget(low, budget.delta)


def _split(noisy: NDArray[np.int64], bins: int, least: float) -> Array:
    """Edges of one column: the first levels are split first, then the interval with the largest noisy count."""
    count = lambda level, place: noisy[2**level - 2 + place]  # noqa: E731
    leaves, edges = [(-math.inf, 0, 0)], [0.0, 1.0]
    while leaves and len(edges) <= bins:
        full, level, place = heapq.heappop(leaves)
        if -full < least or level == LEVELS:
            continue
        edges.append((2 * place + 1) / 2 ** (level + 1))
        for half in (2 * place, 2 * place + 1):
            full = math.inf if level + 1 < EQUAL else float(count(level + 1, half))
            heapq.heappush(leaves, (-full, level + 1, half))
    return np.sort(edges)
