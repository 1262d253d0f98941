"""Quantiles of values and of the normal distribution, and the thresholds that follow from them."""

from collections.abc import Sequence

import numpy as np
from scipy.stats import norm

from memaudit.common.arrays import Array


def normal_threshold(fpr: float) -> float:
    """Threshold that a standard normal score exceeds with probability `fpr`."""
    return norm.ppf(1 - fpr)


def quantiles(values: Array, levels: Sequence[float]) -> Array:
    """Quantiles of values (n,) at levels in [0, 1], interpolated linearly; shape (level,)."""
    return np.quantile(values, levels)
