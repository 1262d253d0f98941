"""The typed cells of a user's table in slices of columns: every cell is cleaned once, however wide the table is.

One query over all columns of a wide table needs more memory than the engine has, and more time to plan than to run.
Slices are scratch files beside the copy of the table; their lines have the order of the view `raw`.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from duckdb import DuckDBPyConnection

from memaudit.common.errors import AuditError
from memaudit.data import text_columns
from memaudit.data.column_schema import COLUMNS_PER_QUERY, Column
from memaudit.data.duckdb_engine import literal, parquet
from memaudit.data.table_readings import numbering

LARGEST = 3.4e38  # of single precision, in which models compute


@dataclass(frozen=True)
class Slices:
    """Typed columns under safe names.

    columns: by file, those that it holds, each with its safe name; folder: for further scratch files.
    """

    folder: Path
    columns: Mapping[Path, Sequence[tuple[Column, str]]]

    def counted(self, connection: DuckDBPyConnection, *counts: str, kind: str | None = None) -> dict[str, list[Any]]:
        """By the user's name of a column: results of aggregates, in which {} is the column; kind: only of this type."""
        found = {}
        for file, columns in self.columns.items():
            chosen = [(column.source, safe) for column, safe in columns if kind in (None, column.type)]
            if not chosen:
                continue
            queries = ", ".join(count.format(safe) for _, safe in chosen for count in counts)
            values = connection.execute(f"SELECT {queries} FROM {parquet(file)}").fetchone()
            for place, (source, _) in enumerate(chosen):
                found[source] = list(values[len(counts) * place : len(counts) * (place + 1)])
        return found

    def without_value(self, connection: DuckDBPyConnection) -> dict[str, str]:
        """Columns without a value in the rows with a target, with the reason why they are left out."""
        counts = self.counted(connection, "count({}) FILTER (complete)")
        return {name: "missing in every row" for name, (count,) in counts.items() if not count}

    def constant(self, connection: DuckDBPyConnection) -> set[str]:
        """Columns that have the same value in all rows with a target."""
        same = "min({0}) FILTER (complete) = max({0}) FILTER (complete)"
        whole = "count({0}) FILTER (complete) = count(*) FILTER (complete)"
        return {name for name, (found,) in self.counted(connection, f"{same} AND {whole}").items() if found}

    def numbering_rows(self, connection: DuckDBPyConnection) -> dict[str, str]:
        """Columns of numbers that only number the rows, with the reason why they are left out."""
        reasons = {}
        for file, columns in self.columns.items():
            numbers = {column.source: safe for column, safe in columns if column.type == "numeric"}
            reasons |= numbering(connection, parquet(file), numbers)
        return reasons

    def text_reasons(self, connection: DuckDBPyConnection, codes: Collection[str]) -> dict[str, str]:
        """Columns of texts that are no categories, with the reason; codes: columns of texts such as 00123."""
        found = {}
        for file, columns in self.columns.items():
            texts = {column.source: safe for column, safe in columns if column.type == "text"}
            found |= text_columns.reasons(connection, parquet(file), texts, codes)
        return found

    def check_range(self, connection: DuckDBPyConnection, kept: Sequence[Column]) -> None:
        """Raise AuditError for a number that is infinite in single precision, in a column that is kept."""
        for name, (row,) in self.counted(
            connection, f"min(file_row_number + 1) FILTER (complete AND abs({{}}) > {LARGEST})", kind="numeric"
        ).items():
            if row is not None and name in {column.source for column in kept}:
                raise AuditError(
                    f"column {name!r}: data row {row} holds a number beyond {LARGEST:g}, which no model can read; "
                    "correct it, or leave the column out with --drop"
                )

    def copy(self, connection: DuckDBPyConnection, kept: Sequence[Column], target: Path) -> None:
        """Write the rows of the table `drawn` (place, target, and perhaps "group") with the kept columns."""
        parts = [self._part(connection, "SELECT place + 1 AS row, target FROM drawn ORDER BY place", "first")]
        for number, (file, columns) in enumerate(self.columns.items()):
            if names := [safe for column, safe in columns if column in kept]:
                rows = "WHERE file_row_number IN (SELECT place FROM drawn) ORDER BY file_row_number"
                parts.append(self._part(connection, f"SELECT {', '.join(names)} FROM {parquet(file)} {rows}", number))
        if any(name == "group" for name, *_ in connection.execute("DESCRIBE drawn").fetchall()):
            parts.append(self._part(connection, 'SELECT "group" FROM drawn ORDER BY place', "last"))
        together = " POSITIONAL JOIN ".join(f"read_parquet({literal(part)})" for part in parts)
        connection.execute(f"COPY (SELECT * FROM {together}) TO {literal(target)} (FORMAT parquet)")

    def _part(self, connection: DuckDBPyConnection, query: str, name: object) -> Path:
        path = self.folder / f"part-{name}.parquet"
        connection.execute(f"COPY ({query}) TO {literal(path)} (FORMAT parquet)")
        return path


@contextmanager
def typed_slices(
    connection: DuckDBPyConnection, features: Sequence[Column], rename: Mapping[str, str], target: str, private: Path
) -> Iterator[Slices]:
    """Yield the typed cells of the view `raw`; they are deleted at the end.

    rename: safe names by the user's names; target: SQL that is NULL in the rows that are not audited; private: a folder
    that only the owner can read.
    """
    with TemporaryDirectory(prefix=".slices-", dir=private) as folder:
        columns = {}
        for start in range(0, len(features), COLUMNS_PER_QUERY):
            path = Path(folder, f"slice-{start}.parquet")
            columns[path] = [(column, rename[column.source]) for column in features[start : start + COLUMNS_PER_QUERY]]
            values = ", ".join(f"{column.value} AS {safe}" for column, safe in columns[path])
            cells = f"SELECT ({target}) IS NOT NULL AS complete, {values} FROM raw"
            connection.execute(f"COPY ({cells}) TO {literal(path)} (FORMAT parquet)")
        yield Slices(Path(folder), columns)
