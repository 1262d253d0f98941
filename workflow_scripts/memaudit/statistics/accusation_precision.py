"""Precision (positive predictive value) of an attack's positive predictions, and posterior membership probabilities."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logit

from memaudit.arrays import Array, Mask
from memaudit.statistics.attack_performance import Estimate


def precision(tpr: ArrayLike, fpr: float, base_rate: float) -> Array:
    """Share of positive predictions that are members: pi TPR / (pi TPR + (1 - pi) FPR), pi the base rate of members.

    With TPR = FPR it is the base rate. Jayaraman et al. 2021 (PETS) call it the positive predictive value.
    """
    inside = base_rate * np.asarray(tpr, dtype=np.float64)
    return inside / (inside + (1 - base_rate) * fpr)


def worth(estimates: Sequence[Estimate], fpr: float, base_rates: Sequence[float]) -> list[tuple[float, Estimate]]:
    """By base rate: precision at the threshold with false positive rate `fpr`, with its interval and null.

    estimates: of `judge_attack`, with the TPR at this FPR. Precision is an increasing function of the TPR alone, so the
    ends of the TPR's percentile interval map to those of the precision.
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


def beliefs(scores: Array, membership: Mask, base_rate: float) -> Array:
    """Posterior membership probability of each record, a mean over the models that contain it, shape (record,).

    scores: (model, record) calibrated log-likelihood ratios in nats. With few shadow models LiRA's ratios are
    overconfident, and so are these probabilities: use them to rank records.
    """
    posterior = expit(scores + logit(base_rate))
    return (posterior * membership).sum(0) / membership.sum(0)
