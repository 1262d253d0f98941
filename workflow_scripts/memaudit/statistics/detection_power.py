"""Power of a verdict that needs a randomisation test and an interval: which effect is detected with probability .8.

`attack_performance.Estimate.detected` holds where few of the redraws are as large as the observed statistic, and where
the interval lies above the mean of the redraws. Both are predicted for an estimate that is normal about its mean, with
the spread that redraws of the membership have.
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.stats import binom, nct, norm, t

from memaudit.common.arrays import Array
from memaudit.statistics.attack_performance import SIGNIFICANT
from memaudit.statistics.bootstrap import LEVEL, for_skewed

POWER = 0.8
POWER_OF_MEANS = 0.9
QUANTILES = norm.ppf((np.arange(400) + 0.5) / 400)


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


def smallest_mean_excess(spread: float, units: int) -> float:
    """Excess over chance of a mean of `units` normal values whose interval lies above chance with probability .9.

    The interval is `bootstrap.t_interval`; spread: standard deviation of a value. NaN for fewer than 2 units.
    """
    if units < 2:
        return float("nan")
    beyond = for_skewed(units) * t.ppf((1 + LEVEL) / 2, units - 1)
    centre = brentq(lambda excess: nct.sf(beyond, units - 1, excess) - POWER_OF_MEANS, 0.0, 20 * beyond)
    return float(centre * spread / np.sqrt(units))
