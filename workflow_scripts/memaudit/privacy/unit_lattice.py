"""Rounding of records' contributions to integers: sensitivities hold without floating-point error (Mironov 2012).

Adjacency is add/remove of one privacy unit: the records of a unit share its weight of one.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from memaudit.common.arrays import Array

# Lattice steps of one unit in a count. Rounding errs by less than one step a record. The square of a block's norm in
# noisy_moments.py is a whole number of at most 2^40: a relative error of 1e-13 before rounding does not reach the next.
STEPS = 2**20


def lattice_contributions(vectors: Array, units: Sequence[str]) -> NDArray[np.int64]:
    """Vectors (n, d) of records in lattice steps, divided by the number of records of their units (n,).

    Rounding is towards zero, so that it increases no norm.
    """
    return np.trunc(vectors * record_steps(units)[:, None]).astype(np.int64)


def record_steps(units: Sequence[str]) -> Array:
    """Lattice steps of the weight of each record (n,): a unit has `STEPS`, shared equally by its records."""
    _, unit, size = np.unique(np.asarray(units, dtype=str), return_inverse=True, return_counts=True)
    return STEPS / size[unit]
