"""Exposure of a planted label: its rank among all labels that could have been planted (Carlini et al. 2019, Def. 3).

exposure = log2(number of candidates) - log2(rank of the planted label by the model's loss), in bits: 0 for the least
probable of them, log2(number) for the most probable one. That number bounds it: two classes have one bit.
"""

import numpy as np
from numpy.typing import ArrayLike

from memaudit.common.arrays import Array


def exposure(ranks: ArrayLike, candidates: int) -> Array:
    """Exposure of ranks (...,) among so many candidates, (...,), in bits; at most log2(candidates)."""
    return np.log2(candidates) - np.log2(np.asarray(ranks, dtype=np.float64))
