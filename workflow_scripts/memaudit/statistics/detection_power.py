"""Power of verdicts that need a test, an interval, or both: which effect is detected with probability .8 or .9.

`attack_performance.Estimate.detected` holds where few of the redraws are as large as the observed statistic, and where
the interval lies above the mean of the redraws. Both are predicted for an estimate that is normal about its mean, with
the spread that redraws of the membership have.
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.stats import binom, chi2, norm, t

from memaudit.common.arrays import Array
from memaudit.statistics import bootstrap, intervals
from memaudit.statistics.attack_performance import SIGNIFICANT
from memaudit.statistics.roc import ROUNDING

POWER = 0.8
POWER_OF_MEANS = 0.9
SHARES = (np.arange(400) + 0.5) / 400
QUANTILES = norm.ppf(SHARES)


@dataclass(frozen=True)
class Verdict:
    """What decides on a detection, for estimates that differ from data set to data set.

    spread: standard deviation of the estimate over data sets; error: the estimate's distance from chance, divided by
    the studentised statistic; studentised: (draw,) that statistic without an effect; half_widths: (bootstrap,) from the
    estimate down to the lower end of its interval; draws: of the randomisation test; offset: from chance to the mean
    without an effect.
    """

    spread: float
    error: float
    studentised: Array
    half_widths: Array
    draws: int
    offset: float = 0.0

    def power(self, excess: float) -> float:
        """Probability of a detection where the mean estimate is this much above its mean without an effect."""
        estimates = excess + self.spread * QUANTILES
        centre, scale = self.studentised.mean(), self.studentised.std(ddof=1)
        # Student's t: centre and scale are those of some draws.
        distance = ((estimates + self.offset) / self.error - centre) / (scale * np.sqrt(1 + 1 / len(self.studentised)))
        larger = t.sf(distance, len(self.studentised) - 1)
        rejected = binom.cdf(int(SIGNIFICANT * (self.draws + 1) + 1e-9) - 1, self.draws, larger)
        above = (estimates[:, None] > self.half_widths).mean(1)
        return float((rejected * above).mean())

    def smallest_excess(self) -> float:
        """The excess that is detected with probability .8."""
        low, high = 0.0, float(self.half_widths.max()) + 20 * self.spread + 20 * self.error
        for _ in range(50):
            middle = (low + high) / 2
            low, high = (low, middle) if self.power(middle) >= POWER else (middle, high)
        return high


def smallest_mean_excess(
    spread: float, units: int, *, threshold: float = -np.inf, level: float = bootstrap.LEVEL
) -> float:
    """Excess over chance of a mean of `units` normal values that is detected with probability .9.

    Detected: its interval at this level, `bootstrap.t_interval`, lies above chance, and the mean is more than
    `threshold` above chance, as a test requires. spread: standard deviation of a value. Infinite where the threshold
    is; NaN for fewer than 2 units.
    """
    if units < 2 or np.isnan(spread):
        return float("nan")
    if not spread or threshold == np.inf:
        return max(threshold, 0.0)
    error = spread / np.sqrt(units)
    # Mean and standard deviation of normal values are independent.
    deviations = np.sqrt(chi2.ppf(SHARES, units - 1) / (units - 1))
    half = bootstrap.for_skewed(units) * t.ppf((1 + level) / 2, units - 1) * deviations
    needed = np.maximum(half, threshold / error)
    last = float(needed.max()) + 10
    return float(error * brentq(lambda excess: norm.sf(needed - excess).mean() - POWER_OF_MEANS, 0.0, last))


def smallest_shown(estimate: float, low: float, high: float) -> float:
    """Excess over chance of a normal estimate that an interval as wide as this one shows with probability .9."""
    error = (high - low) / (2 * norm.ppf((1 + bootstrap.LEVEL) / 2))
    return float(estimate - low + norm.ppf(POWER_OF_MEANS) * error)


def smallest_of_largest(null: Array) -> Array:
    """Values (setting,) whose `max_t` p-value is at most .05 with probability .9; null: (setting, permutation).

    For estimates that vary about the truth as permuted ones do about chance; infinite with fewer than 19 permutations,
    and for a setting whose permutations are all equal, which `max_t` never finds large.
    """
    centre, spread = null.mean(1), null.std(1)
    spread = np.where(spread > ROUNDING, spread, np.inf)
    largest = ((null - centre[:, None]) / spread[:, None]).max(0)
    return centre + spread * (critical(largest, SIGNIFICANT) + norm.ppf(POWER_OF_MEANS))


def critical(null: Array, level: float) -> float:
    """The value above which the p-value among these permutations (permutation,) is at most `level`.

    Infinite where they are too few for that.
    """
    place = int(level * (len(null) + 1) + 1e-9)
    return float(np.partition(null, -place)[-place]) if place else np.inf


def smallest_rate(units: int, nominal: float) -> float:
    """Smallest rate whose Clopper-Pearson interval over so many units lies above `nominal` with probability .9.

    NaN where not even all of the units would suffice.
    """
    lows = np.array([intervals.clopper_pearson(count, units)[0] for count in range(units + 1)])
    if not (lows > nominal).any():
        return float("nan")
    fewest = int(np.argmax(lows > nominal))
    return float(brentq(lambda rate: binom.sf(fewest - 1, units, rate) - POWER_OF_MEANS, 0.0, 1.0))
