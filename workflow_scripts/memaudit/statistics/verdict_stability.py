"""Probability that another run of a study whose noise has no seed gives another verdict on a claim.

The estimate of another run is taken as normal about that of this one, with the standard error that its interval has;
the interval moves along. The interval also covers the choice of records, which another run of the same config has in
common with this one, so that the probability is an upper limit. Comparisons are taken as independent.
"""

from collections.abc import Sequence

import numpy as np
from scipy.stats import norm

from memaudit.common.arrays import Array

# Studies with noise from the operating system: two runs of one config differ.
UNSEEDED = ("tabpate",)
STABLE = 0.95
Z = norm.ppf(0.975)


def outcome_chances(low: float, high: float, region: tuple[float, float]) -> tuple[float, float]:
    """Probabilities that the interval of another run lies within a region, and apart from it.

    An interval without width stays where it is; a missing one (NaN) is neither within nor apart.
    """
    start, end = region
    if not high > low:
        return float(start <= low <= end), float(low < start or low > end)
    error = (high - low) / (2 * Z)
    within = norm.cdf((end - high) / error) - norm.cdf((start - low) / error)
    apart = norm.cdf((start - high) / error) + norm.sf((end - low) / error)
    return max(float(within), 0.0), float(apart)


def at_least(chances: Sequence[float], count: int) -> float:
    """Probability that at least `count` of independent events occur, each with its own probability."""
    numbers: Array = np.array([1.0])
    for chance in chances:
        numbers = np.convolve(numbers, [1 - chance, chance])
    return float(np.clip(numbers[max(count, 0) :].sum(), 0, 1))


def stability_text(same: float) -> str:
    """The sentence on another run; empty for a verdict that is the same with a probability of `STABLE`."""
    if same >= STABLE:
        return ""
    limit = np.ceil(20 * (1 - same)) / 20
    return f"; another run, with other noise, could change this verdict: probability up to {limit:.0%}"
