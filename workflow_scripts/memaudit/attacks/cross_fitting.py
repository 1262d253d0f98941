"""Folds of models and halves of records, so that what a score borrows from the whole matrix does not see its target.

A number that is estimated for one target and record (a prior, RMIA's a, weights of a combination) comes from models of
the other folds and records of the other half. Neither the membership of that record nor any of that model takes part:
no attacker needs to know it, and without a leak a record's IN and OUT targets stay exchangeable.
"""

import functools
import itertools
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from memaudit.common.arrays import Array, Indices, Mask

FOLDS = 4


class Part(NamedTuple):
    """Targets that share an estimate, and where it comes from.

    fold, half: their number; models, records: (model,) and (record,) of the targets; the estimate is made on
    `other_models` and `other_records`.
    """

    fold: int
    half: int
    models: Mask
    records: Mask

    @property
    def other_models(self) -> Mask:
        """Models of the other folds, (model,)."""
        return ~self.models

    @property
    def other_records(self) -> Mask:
        """Records of the other half, (record,)."""
        return ~self.records


def fold_slices(models: int) -> list[slice]:
    """The consecutive models of each fold."""
    ends = np.searchsorted(model_folds(models), np.arange(FOLDS + 1))
    return [slice(start, end) for start, end in itertools.pairwise(ends.tolist())]


def model_folds(models: int) -> Indices:
    """Number of each model's fold, (model,): consecutive models, folds of nearly equal size."""
    return np.arange(models) * FOLDS // models


def of_models(numbers: Array, models: int) -> Array:
    """Numbers of each fold (fold, record) for its models, (model, record); one record's lie together in memory."""
    return numbers.T.repeat(_fold_sizes(models), axis=1).T


@functools.cache
def _fold_sizes(models: int) -> Indices:
    return np.bincount(model_folds(models), minlength=FOLDS)


def record_halves(records: int) -> Indices:
    """Number of each record's half, (record,), in turn: sorted tables have like halves."""
    return np.arange(records) % 2


def parts(models: int, records: int) -> Iterator[Part]:
    """Every fold of models with every half of records."""
    folds, halves = model_folds(models), record_halves(records)
    for fold in range(FOLDS):
        for half in range(2):
            yield Part(fold, half, folds == fold, halves == half)
