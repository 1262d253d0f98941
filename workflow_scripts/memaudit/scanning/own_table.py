"""The user's table as columns of numbers and codes, in which a model's arrays are looked up."""

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import gammaln

from memaudit.auditing.reading import source_file
from memaudit.auditing.reading.option_names import as_options
from memaudit.auditing.reading.reading_options import ReadingOptions
from memaudit.common.arrays import Array
from memaudit.common.cell_notations import MISSING
from memaudit.common.errors import AuditError
from memaudit.data.column_readings import DATE, Choices, Reading
from memaudit.data.frame_readings import SQL_TYPES, read_frame
from memaudit.statistics.rank_correlation import rank_shares

FEWEST_ROWS = 5
DISTINCT = 20  # least different values of a column by which rows can be recognised
GRID = 0.5  # of the gaps between sorted values may be the same
BITS, RUNS = 40.0, 12  # least information of a column's order of rows
MOST_TOLD = 20  # columns whose reading is printed
SORTED = 0.9  # correlation with the row's number of a column that orders the rows


@dataclass(frozen=True, eq=False)
class Column:
    """A column: its values (row,) as float64, NaN where missing; of a category the place of its name when sorted."""

    name: str
    values: Array
    numeric: bool
    names: list[str]  # of a category, sorted; empty for numbers
    remark: str = ""  # how its cells are read, if there is something to say
    cells: pd.Series | None = None  # its texts, of numbers in another notation and of dates

    @cached_property
    def ranks(self) -> Array | None:
        """Ranks (row,) of the values, as `centred_ranks`."""
        return centred_ranks(self.values)

    @cached_property
    def written(self) -> dict[str, float]:
        """Value by text of the cell, of numbers in another notation and of dates."""
        if self.cells is None:
            return {}
        known = np.isfinite(self.values)
        return dict(zip(self.cells[known].str.strip(), self.values[known].tolist(), strict=True))

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


def read(table: str, options: ReadingOptions = ReadingOptions()) -> list[Column]:  # noqa: B008 - frozen
    """The columns of a CSV or Parquet file, read as an audit reads them; texts of a Parquet file are read likewise.

    Raises AuditError, one line without a value, for a file it cannot read, and for cells with two readings.
    """
    marks = (*MISSING, *options.missing)
    try:
        with tempfile.TemporaryDirectory(prefix="memaudit-scan-") as folder:
            fetched = source_file.fetched(table, Path(folder), options.encoding, options.delimiter)
            _check_names(fetched.origin["columns"], options)
            frame, readings = read_frame(fetched.raw, marks, _choices(options, fetched.delimiter))
            converted = [name for name, one in readings.items() if one.value or one.kind == DATE]
            texts = pd.read_parquet(fetched.raw, columns=converted)
        if len(frame) < FEWEST_ROWS:
            raise AuditError(f"{len(frame)} rows are too few to be recognised; {FEWEST_ROWS} are needed")
        if fetched.delimiter and not options.delimiter:
            _check_delimiter(readings)
    except AuditError as error:
        name, fault = repr(table), as_options(str(error))
        raise AuditError(fault if name in fault else f"{name}: {fault}") from None
    columns = [_column(name, frame[name], marks, name in options.categorical) for name in frame]
    return [
        replace(one, remark=readings.get(one.name, Reading()).remark, cells=texts.get(one.name))
        for one in columns
        if one.name not in options.drop
    ]


def _choices(options: ReadingOptions, delimiter: str | None) -> Choices:
    return Choices(
        types=dict.fromkeys(options.categorical, "categorical") | dict.fromkeys(options.drop, "text"),
        decimal=options.decimal,
        dates=options.dates,
        comma_delimited=delimiter == ",",
    )


def _check_delimiter(readings: Mapping[str, Reading]) -> None:
    """Raise AuditError for a CSV file that seems to have one column because its delimiter was not detected."""
    if len(readings) == 1 and not all(one.kind in SQL_TYPES for one in readings.values()):
        raise AuditError(
            "is read as one column of words; give the sign between its columns with --delimiter, or a comma if it has "
            "one column"
        )


def described(table: Sequence[Column]) -> list[str]:
    """What is to be said of how columns are read, in lines."""
    told = [f"  {one.name!r} is read with: {one.remark}" for one in table if one.remark]
    return told[:MOST_TOLD] + [f"  and {len(told) - MOST_TOLD} columns more"] * (len(told) > MOST_TOLD)


def _check_names(columns: Sequence[str], options: ReadingOptions) -> None:
    """Raise AuditError for columns that the table has not, and where none is left."""
    for option, names in (("--drop", options.drop), ("--categorical", options.categorical)):
        if unknown := [name for name in names if name not in columns]:
            raise AuditError(f"{option}: the table has no column {unknown[0]!r}; check the name")
    if not set(columns) - set(options.drop):
        raise AuditError("--drop: no column of the table is left to compare")


def _column(name: str, cells: pd.Series, marks: Sequence[str], categorical: bool) -> Column:
    if cells.dtype.kind in "biuf" and not categorical:
        return Column(name, cells.to_numpy(float), True, [])
    if cells.dtype.kind == "M":
        return Column(name, cells.astype("int64").where(cells.notna()).to_numpy(float), True, [])
    text = cells.astype("string").str.strip()
    text = text.mask(text.isin(["", *marks]))
    numbers = pd.to_numeric(text, errors="coerce")
    # Codes of digits, such as 00123, are often read as numbers by those who fit a model, and their order is the same.
    if not categorical and (numbers.notna() == text.notna()).all():
        return Column(name, numbers.to_numpy(float, na_value=np.nan), True, [])
    names = sorted(text.dropna().unique())
    places = pd.Categorical(text, categories=names).codes.astype(float)
    return Column(name, np.where(places < 0, np.nan, places), False, names)
