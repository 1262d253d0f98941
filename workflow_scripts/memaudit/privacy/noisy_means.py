"""Regression labels: the noisy mean of the clipped predictions of PATE teachers (TabPATE, Section 5.4)."""

import numpy as np

from memaudit.common.arrays import Array
from memaudit.common.errors import AuditError
from memaudit.privacy.accounting import Filter, gaussian_rho
from memaudit.privacy.discrete_noise import Noise, discrete_gaussian

# Lattice steps from 0 to 1: much finer than any useful noise.
STEPS = 2**16


def label_means(predictions: Array, sigma: float, allowance: Filter, noise: Noise = discrete_gaussian) -> Array:
    """Noisy means in [0, 1] of the first queries, as many as the allowance covers: (labelled,).

    predictions: (query, teacher), clipped to [0, 1]; sigma: of the noise on their sum. One changed teacher moves the
    sum by at most 1, exactly, because predictions are rounded to the lattice before they are added. Raises AuditError
    unless sigma > 0, and for a prediction that is NaN.
    """
    cost = gaussian_rho(sigma)
    count = allowance.times(cost, len(predictions))
    steps = np.rint(np.clip(predictions[:count], 0, 1) * STEPS)
    if np.isnan(steps).any():
        raise AuditError("label_means: a teacher predicts NaN; fix the model, or leave this teacher out of all queries")
    allowance.charge(count * cost)
    totals = noise(steps.astype(np.int64).sum(axis=1), sigma * STEPS)
    return np.clip(totals / (STEPS * predictions.shape[1]), 0, 1)
