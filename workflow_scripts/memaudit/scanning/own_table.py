"""The user's table as columns of numbers and codes, in which a model's arrays are looked up."""

import tempfile
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import gammaln

from memaudit.auditing import source_file
from memaudit.auditing.option_names import as_options
from memaudit.common.arrays import Array
from memaudit.common.errors import AuditError
from memaudit.data.column_schema import MISSING
from memaudit.data.table_sources import fetch
from memaudit.statistics.rank_correlation import rank_shares

FEWEST_ROWS = 5
DISTINCT = 20  # least different values of a column by which rows can be recognised
GRID = 0.5  # of the gaps between sorted values may be the same
BITS, RUNS = 40.0, 12  # least information of a column's order of rows
SORTED = 0.9  # correlation with the row's number of a column that orders the rows


@dataclass(frozen=True, eq=False)
class Column:
    """A column: its values (row,) as float64, NaN where missing; of a category the place of its name when sorted."""

    name: str
    values: Array
    numeric: bool
    names: list[str]  # of a category, sorted; empty for numbers

    @cached_property
    def ranks(self) -> Array | None:
        """Ranks (row,) of the values, as `centred_ranks`."""
        return centred_ranks(self.values)

    @cached_property
    def recognises(self) -> bool:
        """Whether a value tells which row it is from: many different ones, and not at the same distance."""
        known = np.unique(self.values[np.isfinite(self.values)])
        if not self.numeric or len(known) < DISTINCT:
            return False
        gaps = np.diff(known)
        _, counts = np.unique(np.round(gaps / gaps.min(), 3), return_counts=True)
        return bool(counts.max() < GRID * len(gaps))


def centred_ranks(values: Array) -> Array | None:
    """Ranks of values (row,) with mean 0 and length 1; a missing one has the mean; None for few different values."""
    known = np.isfinite(values)
    if len(np.unique(values[known])) < DISTINCT / 2:
        return None
    ranks = np.zeros(len(values))
    # Values that are equal in single precision are tied: the model may have cast them.
    shares = rank_shares(np.float32(values[known]) if np.abs(values[known]).max() < 1e38 else values[known])
    ranks[known] = shares - shares.mean()
    return ranks / np.sqrt(ranks @ ranks)


def appearance(values: Array) -> Array:
    """Number of each value (row,) in the order of first appearance: the same for every coding of the same column."""
    return pd.factorize(values, use_na_sentinel=False)[0]


def informative(codes: Array) -> bool:
    """Whether rows with equal values could not be the same ones in another column by chance, nor by sorting the rows.

    The number of ways to part the rows into groups of these sizes, without an order of the groups: of a column without
    equal values there is one.
    """
    counts = np.bincount(codes)
    counts = counts[counts > 0]
    ways = gammaln(len(codes) + 1) - gammaln(counts + 1).sum() - gammaln(len(counts) + 1)
    runs = 1 + np.count_nonzero(np.diff(codes))
    shares = counts / len(codes)
    expected = 1 + (len(codes) - 1) * (1 - float(shares @ shares))
    return bool(ways / np.log(2) >= BITS and runs >= max(RUNS, 0.2 * expected))


def read(table: str) -> list[Column]:
    """The columns of a CSV or Parquet file. Raises AuditError, one line without a value, for a file it cannot read."""
    with tempfile.TemporaryDirectory(prefix="memaudit-scan-") as folder:
        linked = source_file.link(table, Path(folder))
        entry = {"source": "file", "path": str(linked), "encoding": "utf-8"}
        if linked.suffix != ".parquet":
            entry["delimiter"] = source_file.delimiter(linked, "utf-8")
        raw = Path(folder) / "raw.parquet"
        try:
            fetch(entry, raw, folder)
        except AuditError as error:
            message = str(error).replace(f"file {linked}", ascii(table)).replace(str(linked), ascii(table))
            raise AuditError(as_options(message)) from None
        frame = pd.read_parquet(raw)
    if len(frame) < FEWEST_ROWS:
        raise AuditError(f"{table!a}: {len(frame)} rows are too few to be recognised; {FEWEST_ROWS} are needed")
    return [_column(name, frame[name]) for name in frame]


def _column(name: str, cells: pd.Series) -> Column:
    if cells.dtype.kind in "biuf":
        return Column(name, cells.to_numpy(float), True, [])
    if cells.dtype.kind == "M":
        return Column(name, cells.astype("int64").where(cells.notna()).to_numpy(float), True, [])
    text = cells.astype("string").str.strip()
    text = text.mask(text.isin(["", *MISSING]))
    numbers = pd.to_numeric(text, errors="coerce")
    if (numbers.notna() == text.notna()).all():
        return Column(name, numbers.to_numpy(float, na_value=np.nan), True, [])
    names = sorted(text.dropna().unique())
    places = pd.Categorical(text, categories=names).codes.astype(float)
    return Column(name, np.where(places < 0, np.nan, places), False, names)
