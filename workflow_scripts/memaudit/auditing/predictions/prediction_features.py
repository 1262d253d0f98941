"""Features of files of predictions as numbers: what a quantile regression and the blind attack read."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from memaudit.auditing.reading.option_names import as_options
from memaudit.common.arrays import Array, Mask
from memaudit.common.cell_notations import MISSING
from memaudit.common.errors import AuditError
from memaudit.data import text_columns
from memaudit.data.column_schema import Column, Roles, cleaned, infer
from memaudit.data.duckdb_engine import connect, parquet
from memaudit.data.table_readings import NUMBERS_ROWS, code_type

MOST_CATEGORIES = 254  # with a code of its own; the boosted trees take 255
DATA_ROW = re.compile(r"data row (\d+)")


class Features(NamedTuple):
    """values: (row, column), NaN where missing, codes of categories where `categorical` (column,).

    types: by column that is read, in order; left_out: the reason by column that is not; texts: of these, columns of
    words or codes.
    """

    values: Array
    categorical: Mask
    types: dict[str, str]
    left_out: dict[str, str]
    texts: list[str]


class Settings(NamedTuple):
    """target: its column; drop: columns that are no features; categorical, missing: as the user says; typed: whether
    the files' columns have types; codes: columns of texts such as 00123."""

    target: str
    drop: Sequence[str]
    categorical: Sequence[str]
    missing: Sequence[str]
    typed: bool
    codes: Sequence[str] = ()


def read_features(table: Path, sizes: Sequence[int], names: Sequence[str], settings: Settings) -> Features:
    """Features of the rows of both files, one below the other in a Parquet file.

    sizes, names: of either file. Raises AuditError that names the column, the file and its data row.
    """
    with connect(table.parent) as connection:
        connection.execute(f"CREATE VIEW raw AS SELECT * FROM {parquet(table)}")
        known = [name for name, *_ in connection.execute("DESCRIBE raw").fetchall() if name != "file_row_number"]
        every = [name for name in known if name not in {settings.target, *settings.drop}]
        empty = _without_value(connection, every, settings)
        kept = [name for name in every if name not in empty]
        try:
            columns = _columns(connection, kept, known, settings) if kept else []
        except AuditError as error:
            raise AuditError(in_place(str(error), sizes, names)) from None
        words = {one.source: one.value for one in columns if one.type == "text"}
        texts = text_columns.reasons(connection, "raw", words, settings.codes)
        frames = {one.source: _cells(connection, one) for one in columns if one.type != "text"}
    left_out = dict.fromkeys(empty, "missing in every row") | texts
    left_out |= {name: NUMBERS_ROWS for name, values in frames.items() if _numbers_rows(values, sizes)}
    used = {one.source: one.type for one in columns if one.source not in left_out}
    cells = [_as_numbers(frames[name], kind) for name, kind in used.items()]
    values = np.column_stack(cells) if cells else np.empty((sum(sizes), 0))
    categorical = np.array([kind == "categorical" for kind in used.values()], np.bool_)
    return Features(values, categorical, used, left_out, list(texts))


def _columns(connection, kept: Sequence[str], known: Sequence[str], settings: Settings) -> list[Column]:
    others = [name for name in known if name not in {*kept, settings.target}]
    marks = (*MISSING, *settings.missing)
    types = {name: code_type(connection, cleaned(name, marks)) for name in settings.codes if name in kept}
    reading = Roles(
        task="classification",
        target=settings.target,
        types=types | {name: "categorical" for name in settings.categorical if name in kept},
        drop=others,
        missing=marks,
        typed=settings.typed,
    )
    return infer(connection, reading)[0]


def _without_value(connection, names: Sequence[str], settings: Settings) -> list[str]:
    marks = (*MISSING, *settings.missing)
    counts = {name: f"SELECT count({cleaned(name, marks)}) FROM raw" for name in names}
    return [name for name, query in counts.items() if not connection.execute(query).fetchone()[0]]


def _cells(connection, column: Column) -> pd.Series:
    return connection.execute(f"SELECT {column.value} AS cell FROM raw ORDER BY file_row_number").df()["cell"]


def in_place(message: str, sizes: Sequence[int], names: Sequence[str]) -> str:
    """A message about a row of files, one below the other, that names the user's file and its data row."""

    def place(match: re.Match[str]) -> str:
        row = int(match[1])
        file = int(np.searchsorted(np.cumsum(sizes), row))
        return f"data row {row - sum(sizes[:file])} of {names[file]}"

    return DATA_ROW.sub(place, as_options(message))


def _numbers_rows(values: pd.Series, sizes: Sequence[int]) -> bool:
    """Whether a column of numbers only numbers the rows, of either file or of both."""
    if not pd.api.types.is_numeric_dtype(values):
        return False
    numbers = values.to_numpy(np.float64, na_value=np.nan)
    if np.isnan(numbers).any() or (numbers != np.floor(numbers)).any():
        return False
    parts = [numbers, numbers[: sizes[0]], numbers[sizes[0] :]]
    return any(np.ptp(part) == len(part) - 1 and len(np.unique(part)) == len(part) for part in parts)


def _as_numbers(values: pd.Series, kind: str) -> Array:
    """Numbers as they are, dates in days, categories as codes, the most frequent first and rare ones together."""
    if kind == "date":
        dates = pd.to_datetime(values, utc=True)
        return ((dates - pd.Timestamp(0, tz="UTC")) / pd.Timedelta(days=1)).to_numpy(np.float64)
    if kind == "numeric":
        return values.to_numpy(np.float64, na_value=np.nan)
    order = values.value_counts().sort_index().sort_values(ascending=False, kind="stable").index
    codes = values.map({name: min(place, MOST_CATEGORIES) for place, name in enumerate(order)})
    return codes.to_numpy(np.float64, na_value=np.nan)
