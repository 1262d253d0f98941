"""Records that an adversary tries: with each value of a hidden column, or joined with halves of other records.

Attribute inference tries each value of a column that it does not know (Fredrikson et al. 2014; Yeom et al. 2018).
Linking tries which half of a record belongs to a known other half, as in the linkability attack of anonymeter (Giomi et
al. 2023), here by the answers of a model.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memaudit.common.arrays import Array, Array32, Codes, Floats
from memaudit.common.errors import AuditError

MOST_VALUES = 12  # categories, the most frequent ones, or different numbers that are tried one by one
BINS, LEVELS = 4, 2  # of other numbers: equally filled bins, and values tried of each
JOINED = 8  # halves among which the adversary chooses


@dataclass(frozen=True)
class Candidates:
    """What is tried about each target.

    records: (target, level, feature) float32; bin: (level,) the answer that a level stands for; truth: (target,) the
    right answer, -1 where it is none of them, and the target is left out.
    """

    records: Array32
    bin: Codes
    truth: Codes

    @property
    def bins(self) -> int:
        """Number of answers."""
        return int(self.bin.max()) + 1


@dataclass(frozen=True)
class Values:
    """Values of a column that are tried: value, bin (level,); borders of bins, None where each value is a bin."""

    value: Array
    bin: Codes
    borders: Array | None

    def bins_of(self, values: Floats) -> Codes:
        """Bins of values (...), -1 for a missing value and for one that is not tried."""
        if self.borders is not None:
            return np.where(np.isnan(values), -1, np.searchsorted(self.borders, values))
        same = values[..., None] == self.value
        return np.where(same.any(-1), same.argmax(-1), -1)


def values_of(column: Mapping[str, Any], known: Floats) -> Values:
    """Values of a column of the schema that are tried; known: (record,) its values in the table.

    The most frequent categories; a number's values where it has few of them; otherwise two values of each of four bins
    that are equally filled. Raises AuditError for a column with one value.
    """
    known = known[~np.isnan(known)].astype(np.float64)
    values, counts = np.unique(known, return_counts=True)
    if len(values) < 2:
        raise AuditError(f"--infer: the column {column['name']} has one value in these records; leave it out")
    if column["type"] == "categorical" or len(values) <= MOST_VALUES:
        tried = np.sort(values[np.argsort(-counts, kind="stable")[:MOST_VALUES]])
        return Values(tried, np.arange(len(tried)), None)
    # Borders are values of the table: a bin holds what is above the one below, up to its own.
    borders = np.unique(np.quantile(known, np.arange(1, BINS) / BINS, method="lower"))
    borders = borders[borders < values[-1]] if (borders < values[-1]).any() else values[-2:-1]
    of = np.searchsorted(borders, known)
    at = (2 * np.arange(LEVELS) + 1) / (2 * LEVELS)
    levels = [np.unique(np.quantile(known[of == number], at, method="lower")) for number in range(len(borders) + 1)]
    return Values(np.concatenate(levels), np.repeat(np.arange(len(levels)), list(map(len, levels))), borders)


def with_values(targets: Floats, place: int, values: Values) -> Candidates:
    """The targets (target, feature) with each of the values in the column at this place."""
    tried = np.repeat(targets[:, None], len(values.value), axis=1).astype(np.float32)
    tried[..., place] = values.value
    return Candidates(tried, values.bin, values.bins_of(targets[:, place].astype(np.float64)))


def halves(features: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Which features (feature,) are in the half that is to be linked: half of them, at random, at least one.

    Raises AuditError for fewer than two features.
    """
    if features < 2:
        raise AuditError("--threats linkability: a record of one column has no two halves; leave linkability out")
    linked = np.zeros(features, dtype=bool)
    linked[rng.permutation(features)[: features // 2]] = True
    return linked


def joined(targets: Floats, units: Codes, linked: NDArray[np.bool_], rng: np.random.Generator) -> Candidates:
    """Each target's known half, joined with its own other half and with those of other targets.

    targets: (target, feature); units: (target,) privacy units; linked: (feature,) of `halves`. The right half stands at
    a random place. The others are of other persons, and differ from it; a target with too few of them is left out.
    """
    count = len(targets)
    tried = np.repeat(targets[:, None], JOINED, axis=1).astype(np.float32)
    truth = np.full(count, -1)
    half = np.nan_to_num(targets[:, linked], nan=np.inf)
    for target in range(count):
        different = np.flatnonzero((half != half[target]).any(1) & (units != units[target]))
        if len(different) < JOINED - 1:
            continue
        others = rng.choice(different, JOINED - 1, replace=False)
        truth[target] = rng.integers(JOINED)
        from_whom = np.insert(others, truth[target], target)
        tried[target][:, linked] = targets[from_whom][:, linked]
    return Candidates(tried, np.arange(JOINED), truth)
