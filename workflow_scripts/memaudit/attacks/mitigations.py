"""Mitigations that need no training: what a data owner can do to a context or to an answer."""

from collections.abc import Callable, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from memaudit.common.arrays import Mask

QUARTERS = 4


def bagged(answer: Callable[[NDArray[np.intp]], Tensor], context: NDArray[np.intp], bags: int, order: Sequence[int]):
    """Log of the mean probability over parts of a context, each asked on its own: (query, class) float32.

    answer: from the records of a part to logits (query, class); context: (n,) places of records; order: permutation
    of range(n), by which it is cut. A class that a part lacks has no probability there.
    """
    parts = np.array_split(context[np.asarray(order)], bags)
    logs = torch.stack([torch.log_softmax(answer(np.sort(part)).double(), -1) for part in parts])
    return (torch.logsumexp(logs, 0) - np.log(bags)).float()


def coarsened(x: Tensor, reference: Tensor, numeric: Mask) -> Tensor:
    """Records as a careful owner might give them: a number as the middle of its quarter, a category as missing.

    x: (record, feature) float32, NaN stays; reference: (record, feature) whose quarters are taken; numeric: (feature,).
    """
    coarse = torch.full_like(x, torch.nan)
    for column in np.flatnonzero(numeric):
        known = reference[:, column][~reference[:, column].isnan()].sort().values
        if not len(known):
            continue
        middles = known[[(2 * quarter + 1) * len(known) // (2 * QUARTERS) for quarter in range(QUARTERS)]]
        borders = known[[quarter * len(known) // QUARTERS for quarter in range(1, QUARTERS)]]
        places = torch.searchsorted(borders, x[:, column].contiguous(), right=True)
        coarse[:, column] = torch.where(x[:, column].isnan(), torch.nan, middles[places])
    return coarse
