"""A model's arrays as candidates for a table: along each axis that may count rows, their columns as numbers."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from memaudit.common.arrays import Array
from memaudit.scanning.object_walk import Found
from memaudit.scanning.own_table import FEWEST_ROWS, Column

MOST_COLUMNS = 4096  # of one array


@dataclass(frozen=True, eq=False)
class Candidate:
    """An array whose rows may be records. values: (row, column) as float64; names: by column whether it held texts."""

    found: Found
    values: Array
    texts: list[Array | None]


def candidates(found: Found) -> Iterator[Candidate]:
    """The array along each axis that may count rows."""
    array = found.array
    if array.dtype.names:
        fields = [array[name].ravel() for name in array.dtype.names]
        if array.size >= FEWEST_ROWS:
            yield _candidate(found, [one for one in fields if one.dtype.names is None])
        return
    for axis, length in enumerate(array.shape):
        columns = array.size // length if length else 0
        if length >= FEWEST_ROWS and columns <= MOST_COLUMNS:
            matrix = np.moveaxis(array, axis, 0).reshape(length, -1)
            yield _candidate(found, [matrix[:, place] for place in range(columns)])


def _candidate(found: Found, columns: Sequence[Array]) -> Candidate:
    numbers, texts = zip(*map(_numbers, columns), strict=True) if columns else ((), ())
    return Candidate(found, np.column_stack(numbers) if numbers else np.empty((0, 0)), list(texts))


def _numbers(column: Array) -> tuple[Array, Array | None]:
    """A column as numbers, and its texts if it has some: these become codes in the order of first appearance."""
    if column.dtype.kind in "biuf":
        return column.astype(float), None
    if column.dtype.kind in "mM":
        return column.astype("int64").astype(float), None
    cells = pd.Series([one.decode("latin-1") if isinstance(one, bytes) else one for one in column], dtype=object)
    numbers = pd.to_numeric(cells, errors="coerce")
    if (numbers.notna() == cells.notna()).all() and not cells.map(lambda one: isinstance(one, str)).any():
        return np.asarray(numbers, float), None
    texts = cells.map(lambda one: one if isinstance(one, str) else None if pd.isna(one) else str(one))
    return pd.factorize(texts)[0].astype(float), texts.to_numpy(object)


def as_written(candidate: Candidate, table: Sequence[Column]) -> Candidate:
    """The candidate with its texts as the numbers or dates of that column of the table which writes most of them so."""
    values = candidate.values.copy()
    for place, texts in enumerate(candidate.texts):
        if texts is not None:
            distinct = pd.Series(texts).dropna().drop_duplicates()
            known = [distinct.isin(list(column.written)).sum() for column in table]
            if max(known):
                values[:, place] = as_places(texts, table[int(np.argmax(known))])
    return replace(candidate, values=values)


def as_places(texts: Array, column: Column) -> Array:
    """Texts as the places of the column's sorted names, NaN for other ones; numbers as the column writes them."""
    if column.numeric:
        cells = pd.Series(texts)
        return cells.map(column.written).astype(float).fillna(pd.to_numeric(cells, errors="coerce")).to_numpy(float)
    return pd.Series(texts).map({name: place for place, name in enumerate(column.names)}).to_numpy(float)
