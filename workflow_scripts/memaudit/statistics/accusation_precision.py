"""Precision (positive predictive value) of an attack's positive predictions."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from memaudit.common.arrays import Array
from memaudit.statistics.attack_performance import Estimate

# Numbers of a TPR's estimate that are turned into those of the precision.
TRANSFORMED = ("estimate", "low", "high", "null", "null_low", "null_high")


def precision(tpr: ArrayLike, fpr: float, base_rate: float) -> Array:
    """Share of positive predictions that are members: pi TPR / (pi TPR + (1 - pi) FPR), pi the base rate of members.

    With TPR = FPR it is the base rate. Jayaraman et al. 2021 (PETS) call it the positive predictive value.
    """
    inside = base_rate * np.asarray(tpr, dtype=np.float64)
    return inside / (inside + (1 - base_rate) * fpr)


def precision_estimates(
    estimates: Sequence[Estimate], fpr: float, base_rates: Sequence[float]
) -> list[tuple[float, Estimate]]:
    """By base rate: precision at the threshold with false positive rate `fpr`, with its interval and null.

    estimates: of `judge_attack`, with the TPR at this FPR. Precision is an increasing function of the TPR alone, so the
    ends of the TPR's percentile interval map to those of the precision.
    """
    (tpr,) = (estimate for estimate in estimates if estimate.metric == f"tpr@{fpr:g}")
    found = []
    for rate in base_rates:
        values = {key: float(precision(getattr(tpr, key), fpr, rate)) for key in TRANSFORMED}
        found.append((rate, replace(tpr, metric="precision", **values)))
    return found
