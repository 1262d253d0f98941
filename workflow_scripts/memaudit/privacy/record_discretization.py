"""Discretization of records to categorical codes and back, for the synthesizers AIM and MST.

McKenna et al. 2022, 2021; TabPATE, Appendix C. Both handle categorical data only: a number becomes the index of one of
at most `bins` intervals, whose edges are released with noise and paid from the budget (privacy/noisy_bins.py): narrow
where many records are. The synthesizers protect one row, so one row of each privacy unit is used. Their time and memory
grow with the number of columns, and with about 30 they do not finish: the first `columns` in the public order and the
target are used, and the other columns are drawn uniformly between their bounds.

The synthesizers run in an environment of their own (workflow_scripts/tabpate/synthesize_records.py).
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from memaudit.common.arrays import Array, Array32
from memaudit.privacy.discrete_noise import Noise, discrete_gaussian
from memaudit.privacy.noisy_bins import noisy_edges
from memaudit.privacy.public_facts import Column, Public
from memaudit.privacy.synthetic_queries import uniform
from memaudit.privacy.teacher_shards import Private

Edges = Mapping[str, Sequence[float]]  # of each column of numbers, in [0, 1] of its public range


def released_edges(
    private: Private, rho: float, bins: int, columns: int, noise: Noise = discrete_gaussian
) -> dict[str, list[float]]:
    """Noisy edges of the bins of each column of numbers, by its name in `coded`: a rho-zCDP release."""
    named = _columns(private.public, columns)
    values = _one_row_a_unit(private, named)
    numeric = [name for name, column in named.items() if column.type == "numeric"]
    positions = [_positions(named[name], values[name]) for name in numeric]
    edges = noisy_edges(np.stack(positions, axis=1), rho, bins, noise) if positions else []
    return {name: found.tolist() for name, found in zip(numeric, edges, strict=True)}


def counts(public: Public, edges: Edges, columns: int) -> dict[str, int]:
    """Number of codes of each column of `coded`: {"0": ..., "1": ..., "target": ...}. Edges are released: public."""
    return {name: _count(column, edges, name) for name, column in _columns(public, columns).items()}


def coded(private: Private, edges: Edges, columns: int) -> pd.DataFrame:
    """Codes of the private records, the first of each unit: columns "0", "1" ... "target".

    A missing number is set to the middle of its range; a missing category has a separate code, the last.
    """
    named = _columns(private.public, columns)
    values = _one_row_a_unit(private, named)
    return pd.DataFrame({name: _codes(column, values[name], edges.get(name)) for name, column in named.items()})


def restored(
    codes: pd.DataFrame, public: Public, edges: Edges, rng: np.random.Generator
) -> tuple[Array32, NDArray[np.int64] | Array]:
    """Records x (n, d), y (n,) of codes like those of `coded`: a number is uniform within its bin."""
    x = uniform(public, len(codes), rng)
    columns = _columns(public, codes.shape[1] - 1)
    *features, y = (_values(column, codes[name].to_numpy(), edges.get(name), rng) for name, column in columns.items())
    for place, values in enumerate(features):
        x[:, place] = values
    return x, y.astype(np.int64) if public.task == "classification" else y


def _columns(public: Public, columns: int) -> dict[str, Column]:
    """The discretized columns by their names in `coded`: a user's column could be called "target" already."""
    return {str(place): column for place, column in enumerate(public.columns[:columns])} | {"target": public.target}


def _one_row_a_unit(private: Private, named: Mapping[str, Column]) -> dict[str, NDArray]:
    """Values of the first record of each unit in each column."""
    first = np.sort(np.unique(np.asarray(private.units, dtype=str), return_index=True)[1])
    values = (*private.x[first].T[: len(named) - 1], private.y[first])
    return dict(zip(named, values, strict=True))


def _count(column: Column, edges: Edges, name: str) -> int:
    return len(edges[name]) - 1 if column.type == "numeric" else len(column.values) + (name != "target")


def _positions(column: Column, values: NDArray) -> Array:
    """Numbers in [0, 1] of the public range; the middle where missing."""
    lower, upper = column.bounds
    return np.clip(np.nan_to_num((values.astype(np.float64) - lower) / (upper - lower), nan=0.5), 0, 1)


def _codes(column: Column, values: NDArray, edges: Sequence[float] | None) -> NDArray[np.int64]:
    if column.type == "numeric":
        return np.searchsorted(edges[1:-1], _positions(column, values), side="right").astype(np.int64)
    return np.where(np.isnan(values), len(column.values), values).astype(np.int64)


def _values(column: Column, codes: NDArray[np.int64], edges: Sequence[float] | None, rng: np.random.Generator) -> Array:
    if column.type == "numeric":
        lower, upper = column.bounds
        left, right = np.asarray(edges)[codes], np.asarray(edges)[codes + 1]
        return lower + (left + rng.random(len(codes)) * (right - left)) * (upper - lower)
    return np.where(codes == len(column.values), np.nan, codes)
