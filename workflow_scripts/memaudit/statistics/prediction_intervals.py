"""Prediction intervals: where one more value lies, not the mean of all."""

import numpy as np
from scipy.stats import t

from memaudit.common.arrays import Array
from memaudit.statistics.bootstrap import LEVEL


def t_prediction_interval(values: Array) -> tuple[float, float]:
    """Student's t 95 % prediction interval for one more value beside two or more normal ones, (value,).

    Of n values the half-width is t sqrt(1 + 1/n) deviations; it does not shrink to nothing with n.
    """
    count = len(values)
    half = t.ppf((1 + LEVEL) / 2, count - 1) * values.std(ddof=1) * np.sqrt(1 + 1 / count)
    return float(values.mean() - half), float(values.mean() + half)
