"""What an accusation is worth: of those whom an attack accuses, how many are really in the data?"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logit

from memaudit.arrays import Array, Mask
from memaudit.statistics.attack_performance import Estimate


def precision(tpr: ArrayLike, fpr: float, base_rate: float) -> Array:
    """Share of the accused who are in the data: pi TPR / (pi TPR + (1 - pi) FPR), pi the share of suspects who are.

    With TPR = FPR it is the base rate. Jayaraman et al. 2021 (PETS) call it the positive predictive value.
    """
    inside = base_rate * np.asarray(tpr, dtype=np.float64)
    return inside / (inside + (1 - base_rate) * fpr)


def worth(estimates: Sequence[Estimate], fpr: float, base_rates: Sequence[float]) -> list[tuple[float, Estimate]]:
    """By base rate: precision of the threshold that accuses a share `fpr` of those outside, with its interval and null.

    estimates: of `judge_attack`, with the TPR at this FPR. Precision rises with the TPR alone, so each replicate's
    precision is that of its TPR, and the ends of a percentile interval go over as they are.
    """
    (tpr,) = (estimate for estimate in estimates if estimate.metric == f"tpr@{fpr:g}")
    moved = ("estimate", "low", "high", "null", "null_low", "null_high")
    return [
        (
            rate,
            replace(tpr, metric="precision", **{key: float(precision(getattr(tpr, key), fpr, rate)) for key in moved}),
        )
        for rate in base_rates
    ]


def beliefs(scores: Array, design: Mask, base_rate: float) -> Array:
    """What an adversary comes to believe of each record when it is in the data: mean posterior over those models.

    scores: (model, record) calibrated log-likelihood ratios in nats; (record,). Of few shadow models LiRA's ratios are
    bolder than they should be, and so is this: it ranks, and shows what the adversary would think.
    """
    posterior = expit(scores + logit(base_rate))
    return (posterior * design).sum(0) / design.sum(0)
