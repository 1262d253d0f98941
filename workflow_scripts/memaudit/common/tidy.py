"""One schema for every result: tables, figures and the report are views of it."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import pandas as pd

from memaudit.common.io import read_table

COLUMNS = {
    "study": "str",
    "setting": "str",
    "metric": "str",
    "unit": "str",
    "estimate": "float64",
    "low": "float64",
    "high": "float64",
    "n": "int64",
    "method": "str",
    "null": "float64",
}
NAN = float("nan")


def setting(keys: Mapping[str, Any]) -> str:
    """Canonical text of a setting: "dataset=wine, models=512". Raises ValueError where it could not be read back."""
    parts = [f"{key}={value}" for key, value in keys.items()]
    if any(", " in part or part.count("=") != 1 for part in parts):
        raise ValueError(f"a setting's names and values may hold neither '=' nor ', ': {dict(keys)}")
    return ", ".join(parts)


def row(
    study: str,
    keys: Mapping[str, Any],
    metric: str,
    estimate: float,
    *,
    unit: str = "fraction",
    low: float = NAN,
    high: float = NAN,
    n: int = 0,
    method: str = "",
    null: float = NAN,
) -> dict[str, Any]:
    """One result: an estimate with its 95 % interval, the number of units, how the interval was made, and its null."""
    values = (study, setting(keys), metric, unit, float(estimate), float(low), float(high), int(n), method, float(null))
    return dict(zip(COLUMNS, values, strict=True))


def frame(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """The rows as a table with exactly the schema's columns and types."""
    return pd.DataFrame(rows, columns=list(COLUMNS)).astype(COLUMNS)


def expand(table: pd.DataFrame) -> pd.DataFrame:
    """The table with the keys of its settings as columns of their own, numbers parsed; `setting` is dropped.

    A data set may be called 2024: its name stays a text.
    """
    keys = pd.DataFrame(
        [dict(part.split("=") for part in text.split(", ") if part) for text in table["setting"]], index=table.index
    )
    return pd.concat([keys.apply(_numbers), table.drop(columns="setting")], axis=1)


@lru_cache(maxsize=1)
def shown(*paths: str) -> pd.DataFrame:
    """Results of these files with their keys as columns; a file of other tables is taken as it is.

    Views of the same files are made one after the other: the last that were read are kept.
    """
    parts = [read_table(path) for path in paths]
    return pd.concat([expand(part) if "setting" in part else part for part in parts], ignore_index=True)


def _numbers(column: pd.Series) -> pd.Series:
    if column.name == "dataset":
        return column
    parsed = pd.to_numeric(column, errors="coerce")
    return parsed if parsed.notna().equals(column.notna()) else column
