"""LiRA for many balanced membership matrices of the same signals, in single precision: randomisation nulls.

`attacks.lira` gives the scores of a study. Where every record is in half of the models, the two models of a pair share
their leave-pair-out fits, so that all scores come from arrays of half the size. Signals are standardised by record
first, on which the ratio does not depend: single precision keeps four digits of it unless a fit may be nearly constant
(ties, as of saturated confidences, or outliers), see `is_precise`.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memaudit.attacks.gaussian import CONVENTIONS
from memaudit.common.arrays import Array, Array32, Mask

FEWEST_MODELS = 16
LEAST_VARIANCE = 1e-4  # of a fit, in units of the record's; single precision leaves errors of 1e-7
BLOCK = 256  # records whose variances of neighbours are taken at once
Single = Array32


class Halves(NamedTuple):
    """Log-likelihood ratios of members and of non-members (record, half of the models), and their models (the same)."""

    inside: Single
    outside: Single
    models_inside: NDArray[np.int32]
    models_outside: NDArray[np.int32]


class BalancedLira:
    """Scores of `attacks.lira.log_likelihood_ratio`, defaults, of one matrix of signals for any balanced membership."""

    def __init__(self, signals: Array):
        """signals: (model, record)."""
        spread = signals.std(0)
        scale = np.where(spread > 0, spread, 1.0)
        self._signals = np.ascontiguousarray(((signals - signals.mean(0)) / scale).T, dtype=np.float32)
        self._models = np.tile(np.arange(len(signals), dtype=np.int32), signals.shape[1])
        # The convention's least deviation, in the standardised unit.
        self._least = np.square(CONVENTIONS["mean"].floor / scale).astype(np.float32)[:, None]

    @staticmethod
    def fits(membership: Mask) -> bool:
        """Whether every record is in half of the models, of which there are enough for single precision."""
        models = len(membership)
        return models >= FEWEST_MODELS and bool((2 * membership.sum(0) == models).all())

    @property
    def is_precise(self) -> bool:
        """Whether no fit of any balanced membership has a variance that single precision would lose.

        It depends on the signals alone, as a choice that all redraws share must. The values of least variance, of a
        given number, are neighbours in their order. A constant record has the same ratio, 0, at any precision.
        """
        varied = self._signals[self._signals.any(1)]
        blocks = (varied[start : start + BLOCK] for start in range(0, len(varied), BLOCK))
        return all((_variances_of_neighbours(block) > LEAST_VARIANCE).all() for block in blocks)

    def scores(self, membership: Mask) -> Halves:
        """Ratios in nats of a membership matrix (model, record) for which `fits` holds; see `is_precise`."""
        by_record = np.ascontiguousarray(membership.T)
        places = [np.flatnonzero(side).reshape(len(by_record), -1) for side in (by_record, ~by_record)]
        inside, outside = (self._signals.ravel()[place] for place in places)
        (mean_in, variance_in), (mean_out, variance_out) = (self._fit(side) for side in (inside, outside))
        log_ratio = np.log(variance_out / variance_in)
        ratios = (
            (log_ratio - (side - mean_in) ** 2 / variance_in + (side - mean_out) ** 2 / variance_out) / 2
            for side in (inside, outside)
        )
        return Halves(*ratios, *(self._models[place] for place in places))

    def _fit(self, side: Single) -> tuple[Single, Single]:
        """Mean and variance (record, model) of the others of the half, as `gaussian.fit_without_target`."""
        count = np.float32(side.shape[1])
        mean = side.mean(1, keepdims=True)
        own = side - mean
        squares = np.einsum("rm,rm->r", own, own)[:, None]
        variance = (squares - own**2 * (count / (count - 1))) / (count - 1)
        return mean - own / (count - 1), np.maximum(variance, self._least)


def _variances_of_neighbours(signals: Single) -> Array:
    """Variances of all runs of half of a record's models less one, in the order of their signals (record, run)."""
    ordered = np.sort(signals, axis=1).astype(np.float64)
    count = ordered.shape[1] // 2 - 1
    sums, squares = (np.pad(np.cumsum(one, axis=1), [(0, 0), (1, 0)]) for one in (ordered, np.square(ordered)))
    mean, mean_square = ((one[:, count:] - one[:, :-count]) / count for one in (sums, squares))
    return mean_square - np.square(mean)
