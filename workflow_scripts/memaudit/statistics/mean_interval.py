"""Student's t interval of a mean, and of a mean over groups."""

from collections.abc import Sequence

import numpy as np
from scipy.stats import t as student

from memaudit.common.arrays import Array
from memaudit.statistics.bootstrap import LEVEL


def half_width(values: Array) -> float:
    """Half of the width of the 95 % interval of the mean of independent values, (repeat,), at least two."""
    return float(student.ppf((1 + LEVEL) / 2, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values)))


def mean_over_groups(groups: Sequence[Array]) -> tuple[float, float, float]:
    """Mean of the means of groups with its 95 % interval; groups: (value,) of each, independent, at least two values.

    The groups are fixed and may differ in variance: Student's t with the degrees of freedom of Welch and Satterthwaite.
    """
    mean = float(np.mean([values.mean() for values in groups]))
    variances = np.array([values.var(ddof=1) / len(values) for values in groups])
    if not variances.any():
        return mean, mean, mean
    freedom = variances.sum() ** 2 / (variances**2 / [len(values) - 1 for values in groups]).sum()
    half = float(student.ppf((1 + LEVEL) / 2, freedom) * np.sqrt(variances.sum()) / len(groups))
    return mean, mean - half, mean + half
