"""Power of Fisher's exact test of two shares, where the second is known."""

import numpy as np
from scipy.optimize import brentq
from scipy.stats import binom, hypergeom

from memaudit.statistics.attack_performance import SIGNIFICANT
from memaudit.statistics.detection_power import POWER

SPREAD = 1e-4  # probability of counts of the second group that are left out


def smallest_share(first: int, second: int, share: float) -> float | None:
    """Smallest share of the first group that the one-sided test finds larger with probability POWER; None: none is.

    first, second: sizes of the groups; share: of the second, whose count varies as a binomial one.
    """
    least, most = binom.ppf([SPREAD, 1 - SPREAD], second, share)
    counts = np.arange(int(least), int(most) + 1)
    needed = np.array([_fewest(first, second, int(count)) for count in counts])
    weights = binom.pmf(counts, second, share)

    def power(true: float) -> float:
        return float(weights @ binom.sf(needed - 1, first, true) / weights.sum())

    return float(brentq(lambda true: power(true) - POWER, share, 1)) if power(1) >= POWER else None


def _fewest(first: int, second: int, count: int) -> int:
    """Fewest of the first group with which the test rejects, beside `count` of the second; first + 1: none rejects."""
    low, high = 0, first + 1
    while low < high:
        middle = (low + high) // 2
        p = hypergeom.sf(middle - 1, first + second, middle + count, first)
        low, high = (low, middle) if p <= SIGNIFICANT else (middle + 1, high)
    return low
