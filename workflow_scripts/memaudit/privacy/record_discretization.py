"""Discretization of records to categorical codes and back, for the synthesizers AIM and MST.

McKenna et al. 2022, 2021; TabPATE, Appendix C. Both handle categorical data only: a number becomes the index of one of
`bins` equal intervals between its public bounds. No interval depends on a record, so discretization costs no privacy.
The synthesizers protect one row, so one row of each privacy unit is used. Their time and memory grow with the number of
columns, and with about 30 they do not finish: the first `columns` in the public order and the target are used, and the
other columns are drawn uniformly between their bounds.

The synthesizers run in an environment of their own (workflow_scripts/tabpate/synthesize_records.py).
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from memaudit.common.arrays import Array, Array32
from memaudit.privacy.public_facts import Column, Public
from memaudit.privacy.synthetic_queries import uniform


def counts(public: Public, bins: int, columns: int) -> dict[str, int]:
    """Number of codes of each column of `coded`: {"0": ..., "1": ..., "target": ...}. Public."""
    return {name: _count(column, bins, name) for name, column in _columns(public, columns).items()}


def coded(
    x: Array32,
    y: NDArray[np.int64] | Array,
    units: Sequence[str],
    public: Public,
    bins: int,
    columns: int,
) -> pd.DataFrame:
    """Codes of the records x (n, d), y (n,) of `Public.encode`, the first of each unit: columns "0", "1" ... "target".

    A missing number is set to the middle of its range; a missing category has a separate code, the last.
    """
    first = np.sort(np.unique(np.asarray(units, dtype=str), return_index=True)[1])
    named = zip(_columns(public, columns).items(), (*x[first].T[:columns], y[first]), strict=True)
    return pd.DataFrame({name: _codes(column, values, bins) for (name, column), values in named})


def restored(
    codes: pd.DataFrame, public: Public, bins: int, rng: np.random.Generator
) -> tuple[Array32, NDArray[np.int64] | Array]:
    """Records x (n, d), y (n,) of codes like those of `coded`: a number is uniform within its interval."""
    x = uniform(public, len(codes), rng)
    columns = _columns(public, codes.shape[1] - 1)
    *features, y = (_values(column, codes[name].to_numpy(), bins, rng) for name, column in columns.items())
    for place, values in enumerate(features):
        x[:, place] = values
    return x, y.astype(np.int64) if public.task == "classification" else y


def _columns(public: Public, columns: int) -> dict[str, Column]:
    """The discretized columns by their names in `coded`: a user's column could be called "target" already."""
    return {str(place): column for place, column in enumerate(public.columns[:columns])} | {"target": public.target}


def _count(column: Column, bins: int, name: str) -> int:
    return bins if column.type == "numeric" else len(column.values) + (name != "target")


def _codes(column: Column, values: NDArray[np.floating | np.integer], bins: int) -> NDArray[np.int64]:
    if column.type == "numeric":
        return column.interval(np.nan_to_num(values, nan=sum(column.bounds) / 2), bins)
    return np.where(np.isnan(values), len(column.values), values).astype(np.int64)


def _values(column: Column, codes: NDArray[np.int64], bins: int, rng: np.random.Generator) -> Array:
    if column.type == "numeric":
        lower, upper = column.bounds
        return lower + (codes + rng.random(len(codes))) * (upper - lower) / bins
    return np.where(codes == len(column.values), np.nan, codes)
