"""The share of a reference's gain over chance that a method keeps, from paired repeats."""

from dataclasses import dataclass

import numpy as np
from scipy.stats import t as student

from memaudit.common.arrays import Array
from memaudit.statistics.bootstrap import LEVEL
from memaudit.statistics.mean_interval import half_width

MET, UNDECIDED, NOT_MET, NO_GAIN = "met", "undecided", "not met", "no gain"


@dataclass(frozen=True)
class KeptShare:
    """Ratio of mean gains with its 95 % interval; NaN where the reference's gain cannot be told from none."""

    estimate: float
    low: float
    high: float

    def verdict(self, threshold: float) -> str:
        """Whether the whole interval is at the threshold or above, below it, or holds it."""
        if np.isnan(self.estimate):
            return NO_GAIN
        return MET if self.low >= threshold else NOT_MET if self.high < threshold else UNDECIDED


def kept_share(gains: Array, reference: Array) -> KeptShare:
    """Share kept; gains, reference: (repeat,) over chance, of the same repeats, at least two.

    Interval: Fieller's (1954), all shares s at which the paired differences gains - s * reference have a mean that
    Student's t cannot tell from zero. It needs no division by a noisy number, and is exact for normal repeats.
    """
    if reference.mean() - half_width(reference) <= 0:
        return KeptShare(np.nan, np.nan, np.nan)
    count = len(gains)
    covariance = np.cov(gains, reference) / count * student.ppf((1 + LEVEL) / 2, count - 1) ** 2
    # (mean gain - s * mean reference)^2 = quantile^2 * variance of that difference, a parabola in s.
    square = reference.mean() ** 2 - covariance[1, 1]
    half = gains.mean() * reference.mean() - covariance[0, 1]
    constant = gains.mean() ** 2 - covariance[0, 0]
    root = np.sqrt(max(0.0, half**2 - square * constant))
    share = gains.mean() / reference.mean()
    return KeptShare(float(share), float((half - root) / square), float((half + root) / square))
