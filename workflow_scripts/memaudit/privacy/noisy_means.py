"""Regression labels: the noisy mean of teachers' clipped predictions (TabPATE, Section 5.4)."""

import numpy as np
from numpy.typing import NDArray

from memaudit.errors import AuditError
from memaudit.privacy.accounting import Filter, gaussian_rho
from memaudit.privacy.discrete_noise import Noise, discrete_gaussian

# Lattice steps from 0 to 1: far finer than any noise that protects.
STEPS = 2**16


def label_means(
    predictions: NDArray[np.float64], sigma: float, allowance: Filter, noise: Noise = discrete_gaussian
) -> NDArray[np.float64]:
    """Noisy means in [0, 1] of the first queries, as many as the allowance pays for: (asked,).

    predictions: (query, teacher), clipped to [0, 1]; sigma: of the noise on their sum. One changed teacher moves the
    sum by at most 1, exactly so because predictions are rounded to the lattice before they are added. Raises AuditError
    unless sigma > 0, and for a prediction that is no number.
    """
    cost = gaussian_rho(sigma)
    asked = allowance.times(cost, len(predictions))
    steps = np.rint(np.clip(predictions[:asked], 0, 1) * STEPS)
    if np.isnan(steps).any():
        raise AuditError("label_means: a teacher predicts NaN; mend the model, or leave its teacher out everywhere")
    allowance.charge(asked * cost)
    totals = noise(steps.astype(np.int64).sum(axis=1), sigma * STEPS)
    return np.clip(totals / (STEPS * predictions.shape[1]), 0, 1)
