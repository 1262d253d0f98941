"""Mitigations that need no training: what a data owner can do to a context or to an answer."""

from collections.abc import Callable, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from memaudit.common.arrays import Mask

QUARTERS = 4


def mean_probability(logits: Tensor) -> Tensor:
    """Log of the mean probability of bags (bag, query, class): (query, class) float32.

    A class that a bag lacks has no probability there.
    """
    logs = torch.log_softmax(logits.double(), -1)
    return (torch.logsumexp(logs, 0) - np.log(len(logs))).float()


def mixture(answers: Tensor) -> Tensor:
    """The mixture of the bags' distributions: log density and mean (query, 2) float64, of (bag, query, 2)."""
    density, mean = answers.double().unbind(-1)
    return torch.stack([torch.logsumexp(density, 0) - np.log(len(answers)), mean.mean(0)], -1)


def bagged(
    answer: Callable[[NDArray[np.intp]], Tensor],
    context: NDArray[np.intp],
    bags: int,
    order: Sequence[int],
    combine: Callable[[Tensor], Tensor] = mean_probability,
) -> Tensor:
    """Combined answers of parts of a context, each asked on its own.

    answer: from the records of a part to answers (query, ...); context: (n,) places of records; order: permutation of
    range(n), by which it is cut; combine: from answers (bag, query, ...) to (query, ...).
    """
    parts = np.array_split(context[np.asarray(order)], bags)
    return combine(torch.stack([answer(np.sort(part)) for part in parts]))


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
