"""Upper limit of the probability that another run of a study whose noise has no seed gives another verdict on a claim.

The estimate of another run is taken as normal about that of this one. Both have the standard error that the interval
has, so that their difference has sqrt(2) times as much; the interval moves along. It also covers the choice of records,
which another run of the same config has in common with this one: the probability of a change is at most that.
Comparisons share records and references, so that counts of them have limits that hold whatever their dependence. Ends
of intervals, which have no interval of their own, are taken as they are.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri

# Studies with noise from the operating system: two runs of one config differ.
UNSEEDED = ("tabpate",)
STABLE = 0.95
Z = ndtri(0.975)


class Limits(NamedTuple):
    """Upper limits of the probabilities that a relation holds in another run, does not, is opposite, and is not."""

    holds: float
    fails: float
    opposite: float
    not_opposite: float


def outcome_chances(low: float, high: float, region: tuple[float, float], strict: bool = False) -> tuple[float, float]:
    """Probabilities that the interval of another run lies within a region, and apart from it.

    An interval without width stays where it is, and on an end it is within unless `strict`; a missing one (NaN) is
    neither within nor apart.
    """
    start, end = region
    if not high > low:
        within = start < low < end if strict else start <= low <= end
        return float(within), float(low < start or low > end)
    error = np.sqrt(2) * (high - low) / (2 * Z)
    within = ndtr((end - high) / error) - ndtr((start - low) / error)
    apart = ndtr((start - high) / error) + ndtr((low - end) / error)
    return max(float(within), 0.0), float(apart)


def at_least_limit(chances: Sequence[float], count: int) -> float:
    """Upper limit of the probability that at least `count` events occur, whatever their dependence (Rueger 1978).

    If `count` occur, then at least `count - r` of those without the r likeliest do: Markov's inequality for each r.
    """
    if count <= 0:
        return 1.0
    if count > len(chances):
        return 0.0
    sums = np.cumsum(np.sort(chances))[::-1][:count]
    return float(min(1.0, (sums / np.arange(count, 0, -1)).min()))


def limits(again: Sequence[tuple[float, float]], needed: int) -> Limits:
    """Limits for a relation that holds if `needed` comparisons do, and is opposite if so many are that they cannot.

    again: probabilities that each comparison holds, and that it shows the opposite. Without any, it never holds.
    """
    if not again:
        return Limits(0.0, 1.0, 0.0, 1.0)
    holds, opposite = np.array(again).T
    against = len(again) - needed + 1
    return Limits(
        at_least_limit(holds, needed),
        at_least_limit(1 - holds, against),
        at_least_limit(opposite, against),
        at_least_limit(1 - opposite, needed),
    )


def stability_text(change: float) -> str:
    """The sentence on another run; empty for a verdict that is the same with a probability of `STABLE`."""
    if change <= 1 - STABLE + 1e-9:
        return ""
    limit = min(np.ceil(20 * change - 1e-9) / 20, 1)
    return f"; another run, with other noise, could change this verdict: probability up to {limit:.0%}"
