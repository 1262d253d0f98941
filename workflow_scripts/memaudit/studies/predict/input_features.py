"""What networks read of records, as numbers in which PSMI is computed without any training: a baseline."""

import numpy as np
from numpy.typing import NDArray

from memaudit.common.arrays import Array


def input_features(x: NDArray) -> Array:
    """Inputs of the networks as (record, feature): numbers as they are, and how often each token occurs.

    x: (record, ...) numbers, missing ones take their column's mean; or integers (record, position), which are tokens.
    Integers of more axes are pixels. Columns that are constant are left out.
    """
    if np.issubdtype(x.dtype, np.integer) and x.ndim == 2:
        tokens, places = np.unique(x, return_inverse=True)
        counts = np.zeros((len(x), len(tokens)))
        np.add.at(counts, (np.arange(len(x))[:, None], places.reshape(x.shape)), 1.0)
        return counts[:, np.ptp(counts, axis=0) > 0]
    values = x.reshape(len(x), -1).astype(float)
    known = np.isfinite(values)
    means = np.where(known, values, 0.0).sum(0) / np.maximum(known.sum(0), 1)
    values = np.where(known, values, means)
    return values[:, np.ptp(values, axis=0) > 0]
