"""Difference of one score from the best of several others, with an interval that holds though the data choose the best.

The difference from the truly best one is the smallest of the true differences from each. As in
`crossed_intervals.smallest`, its lower end is the smallest of their lower ends, and its upper end the smallest of their
upper ends with Bonferroni's correction. Coverage: tests/memaudit/statistics/test_difference_from_best.py.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from scipy.stats import norm

from memaudit.common.arrays import Array
from memaudit.statistics import bootstrap
from memaudit.statistics.attack_performance import Estimate
from memaudit.statistics.detection_power import smallest_shown


def from_best(gaps: Mapping[str, Estimate], metric: str) -> Estimate:
    """The smallest of several differences, by the name of what each is from; the method names the observed best one.

    The Bonferroni correction stretches the upper parts of the intervals as normal quantiles do: so few replicates of a
    bootstrap as are drawn have no quantile so far out.
    """
    best = min(gaps, key=lambda name: gaps[name].estimate)
    stretch = norm.ppf(1 - (1 - bootstrap.LEVEL) / 2 / len(gaps)) / norm.ppf((1 + bootstrap.LEVEL) / 2)
    low = float(np.min([gap.low for gap in gaps.values()]))
    high = float(np.min([gap.estimate + stretch * (gap.high - gap.estimate) for gap in gaps.values()]))
    return replace(gaps[best], metric=metric, low=low, high=high, method=_method(gaps[best].method, best, len(gaps)))


def from_best_over_settings(gaps: Mapping[str, Array], metric: str) -> Estimate:
    """The smallest mean of differences (source,), by the name of what they are from; Student's t over sources of data.

    The others are compared as one would use them: the same one in every setting. Without an interval for one source.
    """
    means = {name: float(values.mean()) for name, values in gaps.items()}
    best = min(means, key=means.__getitem__)
    count, low, high = len(gaps[best]), np.nan, np.nan
    if count > 1:
        corrected = 1 - (1 - bootstrap.LEVEL) / len(gaps)
        low = min(bootstrap.t_interval(values)[0] for values in gaps.values())
        high = min(bootstrap.t_interval(values, corrected)[1] for values in gaps.values())
    method = _method(f"Student's t over {count} sources of data", best, len(gaps))
    return Estimate(metric, means[best], float(low), float(high), count, method, 0.0)


def smallest_detectable(gap: Estimate) -> float:
    """The difference whose lower end exceeds 0 with probability .9, as `smallest_shown` of the interval's lower half.

    Where the best is chosen among several this is on the large side.
    """
    return smallest_shown(gap.estimate, gap.low, 2 * gap.estimate - gap.low)


def _method(method: str, best: str, count: int) -> str:
    return f"{method}; best of {count}: {best}; the interval allows for the choice"
