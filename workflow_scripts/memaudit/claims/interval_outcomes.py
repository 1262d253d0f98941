"""The outcome of an interval: within the region that a claim names, apart from it, or across one of its ends."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from memaudit.claims.verdict_stability import outcome_chances

MANY = 1000  # times as much data: a larger factor is not named


@dataclass(frozen=True)
class Value:
    """An estimate with its interval."""

    estimate: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.estimate:.3g}" + (f" [{self.low:.3g}, {self.high:.3g}]" if self.low < self.high else "")


@dataclass(frozen=True)
class Comparison:
    """One setting's outcome.

    margin: how far its interval is on the claim's side, negative where it is not; factor: about how many times as much
    data would move an undecided interval to the side of its estimate, if the estimate stayed and the width fell with
    the root of the size; supports: the estimate itself is on the claim's side; again: probabilities that another run,
    with other noise, holds and shows the opposite; reaches: the interval holds effects as large as the claim's.
    """

    setting: str
    numbers: str
    outcome: Literal["holds", "opposite", "inconclusive", "no interval"]
    margin: float
    factor: float = 1.0
    supports: bool = True
    again: tuple[float, float] = (0.0, 0.0)
    reaches: bool = True


def placed(
    setting: str,
    numbers: str,
    difference: Value,
    region: tuple[float, float],
    reach: tuple[float, float] | None = None,
    *,
    strict: bool = False,
    shrinks: bool = True,
) -> Comparison:
    """The outcome of an interval: within the region, apart from it, or across one of its ends.

    reach: where the interval must be apart from instead, a part of the region; strict: not on an end; shrinks: the
    interval does with more data, and is not a margin.
    """
    reach = reach or region
    within, apart = _clearance(difference, region, reach)
    if np.isnan(within):
        return Comparison(setting, numbers, "no interval", within)
    again = _chances(difference, region, reach, strict)
    if within > 0 or (within == 0 and not strict):
        return Comparison(setting, numbers, "holds", within, again=again, reaches=apart <= 0)
    if apart > 0:
        return Comparison(setting, numbers, "opposite", within, supports=False, again=again)
    # Within the region both ends must be cleared; outside what must be reached, the end that the estimate lies beyond.
    ways = {}
    if region[0] <= difference.estimate <= region[1]:
        ways[True] = max(_factor(difference, edge) for edge in region)
    if not reach[0] <= difference.estimate <= reach[1]:
        ways[False] = _factor(difference, reach[0] if difference.estimate < reach[0] else reach[1])
    supports, factor = min(ways.items(), key=lambda way: way[1])
    return Comparison(setting, numbers, "inconclusive", within, factor if shrinks else np.inf, supports, again)


def _clearance(difference: Value, region: tuple[float, float], reach: tuple[float, float]) -> tuple[float, float]:
    """How far the interval is within the region, and apart from what it must reach; negative where it is not."""
    within = min(difference.low - region[0], region[1] - difference.high)
    return within, max(reach[0] - difference.high, difference.low - reach[1])


def _chances(
    difference: Value, region: tuple[float, float], reach: tuple[float, float], strict: bool
) -> tuple[float, float]:
    """Probabilities that the interval of another run holds, and that it shows the opposite and does not hold."""
    ends = difference.low, difference.high
    both = (region[0], reach[0]) if np.isinf(region[1]) else (reach[1], region[1])
    holds, apart = outcome_chances(*ends, region, strict)[0], outcome_chances(*ends, reach, strict)[1]
    return holds, apart - (outcome_chances(*ends, both, strict)[0] if reach != region else 0.0)


def _factor(value: Value, edge: float) -> float:
    """How many times as much data would move the interval to the estimate's side of the edge."""
    distance = edge - value.estimate
    reach = value.high - value.estimate if distance > 0 else value.estimate - value.low
    if np.isinf(edge):
        return 1.0
    return float((reach / distance) ** 2) if distance else np.inf


def size_text(factor: float, units: str) -> str:
    """The sentence that says how many times as many of the units would decide."""
    if np.isinf(factor):
        return "at the bound or within a margin, so that no size is sure to decide"
    if factor > MANY:
        return f"the estimate is so near the bound that even {MANY} times as many {units} would not decide"
    return f"about {times_text(factor)} times as many {units} would decide"


def times_text(factor: float) -> str:
    """A factor of at least 1.1, to two digits."""
    return f"{float(f'{max(factor, 1.1):.2g}'):g}"
