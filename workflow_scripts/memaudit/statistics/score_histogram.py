"""Histogram of attack scores of members and non-members, by rank: scores of different attacks have no common unit."""

from typing import NamedTuple

import numpy as np
from scipy.special import ndtri
from scipy.stats import rankdata

from memaudit.common.arrays import Array, Mask

EDGES = np.linspace(-3.2, 3.2, 33)  # in normal scores; what lies outside counts in the outermost bins
FEWEST_VALUES = 2 * len(EDGES)  # distinct scores that a histogram needs: with fewer its bins show the ties


class Histogram(NamedTuple):
    """Shares of each side's entries in the bins between EDGES, each sums to 1; threshold: in normal scores."""

    members: Array
    nonmembers: Array
    threshold: float


def histogram(scores: Array, membership: Mask, fpr: float) -> Histogram | None:
    """The histogram of scores (model, target); None with fewer than FEWEST_VALUES different ones.

    All scores are made normal by their rank together, equal ones by their mean rank. The threshold has the share `fpr`
    of the non-members above it.
    """
    if len(np.unique(scores)) < FEWEST_VALUES:
        return None
    normal = np.clip(normal_scores(scores), EDGES[0], EDGES[-1])
    inside, outside = (np.histogram(normal[side], EDGES)[0] / side.sum() for side in (membership, ~membership))
    return Histogram(inside, outside, float(np.quantile(normal[~membership], 1 - fpr)))


def normal_scores(scores: Array) -> Array:
    """The scores, of any shape, made normal by their rank together; equal ones get their mean rank's."""
    return ndtri((rankdata(scores).reshape(scores.shape) - 0.5) / scores.size)
