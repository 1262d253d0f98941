"""A user's file in memory, its texts in any notation of numbers and dates as numbers and times."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from memaudit.data.column_readings import DATE, NUMERIC, Choices, Reading, read_columns
from memaudit.data.column_schema import cleaned
from memaudit.data.duckdb_engine import connect, identifier, parquet
from memaudit.data.table_readings import TEXTS

SQL_TYPES = {NUMERIC: "DOUBLE", DATE: "TIMESTAMP"}


def read_frame(raw: Path, missing: Sequence[str], choices: Choices) -> tuple[pd.DataFrame, dict[str, Reading]]:
    """The rows of a Parquet file, columns of numbers and dates typed, and the reading of each column of texts.

    missing: texts that mean a missing value. Codes and words stay texts, as do columns whose type the user gives as
    categorical or text. Raises AuditError, see `read_columns`.
    """
    frame, table = pd.read_parquet(raw), parquet(raw)
    with connect(raw.parent) as connection:
        natives = connection.execute(f"DESCRIBE SELECT * EXCLUDE (file_row_number) FROM {table}").fetchall()
        texts = {name: cleaned(name, missing) for name, native, *_ in natives if native.startswith(TEXTS)}
        readings = read_columns(connection, table, texts, choices)
        for name, one in readings.items():
            if one.kind in SQL_TYPES:
                value = f"CAST({one.value or texts[name]} AS {SQL_TYPES[one.kind]}) AS {identifier(name)}"
                cells = connection.execute(f"SELECT {value} FROM {table} ORDER BY file_row_number")
                frame[name] = cells.df()[name]
    return frame, readings
