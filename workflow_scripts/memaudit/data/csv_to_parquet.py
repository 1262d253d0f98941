"""CSV to Parquet, streamed. Every cell stays text; errors are one line and quote no value of the table."""

import csv
import gzip
import re
import zlib
from pathlib import Path

import duckdb

from memaudit.common.errors import AuditError
from memaudit.data.duckdb_engine import literal


def to_parquet(
    connection: duckdb.DuckDBPyConnection,
    source: Path,
    target: Path,
    delimiter: str = ",",
    encoding: str = "utf-8",
) -> None:
    """Copy a CSV file (may be gzipped) with a header line to Parquet, all columns text, empty cells missing.

    Raises AuditError for an empty file, an unreadable encoding, a ragged row (with its line number), an open quote,
    and missing or repeated column names.
    """
    columns = ", ".join(f"{literal(name)}: 'VARCHAR'" for name in header(source, delimiter, encoding))
    table = (
        f"read_csv({literal(source)}, auto_detect = false, header = true, columns = {{{columns}}}, "
        f"delim = {literal(delimiter)}, quote = '\"', escape = '\"', encoding = {literal(encoding)})"
    )
    try:
        connection.execute(f"COPY (SELECT * FROM {table}) TO {literal(target)} (FORMAT parquet)")
    except duckdb.Error as error:
        raise AuditError(f"{source}: {_reason(str(error), encoding)}") from None


def header(source: Path, delimiter: str, encoding: str) -> list[str]:
    """Return the column names in the file's first line."""
    opener = gzip.open if source.suffix == ".gz" else open
    encoding = "utf-8-sig" if encoding == "utf-8" else encoding
    try:
        # Reading ahead decodes more than the first line: the engine reports invalid bytes further on.
        with opener(source, "rt", encoding=encoding, errors="surrogateescape", newline="") as file:
            names = next(csv.reader(file, delimiter=delimiter), [])
        "".join(names).encode()
    except UnicodeError:
        raise AuditError(f"{source}: {_encoding(1, encoding.removesuffix('-sig'))}") from None
    except (OSError, EOFError, zlib.error, csv.Error) as error:
        raise AuditError(f"{source}: cannot be read ({error})") from None
    if not names:
        raise AuditError(f"{source}: the file is empty (0 rows, no header); fetch or export it again")
    return unique(names, source)


def unique(names: list[str], where: object) -> list[str]:
    """Return the names. Raises AuditError for a missing or repeated one (case does not count, as in SQL)."""
    seen: dict[str, int] = {}
    for position, name in enumerate(names, start=1):
        if not name.strip():
            raise AuditError(f"{where}: column {position} has no name; give it one in the header")
        if (other := seen.setdefault(name.lower(), position)) != position:
            raise AuditError(f"{where}: columns {other} and {position} are both called {name!r}; rename one")
    return names


def _reason(message: str, encoding: str) -> str:
    # The engine's message quotes the line, whose values must not reach a log.
    line = int(match[1]) if (match := re.search(r"Error on Line: (\d+)", message)) else None
    if match := re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", message):
        return (
            f"line {line} has {match[2]} fields where the header has {match[1]}; correct the line, or set `delimiter`"
        )
    if "unicode" in message or "encoded" in message:
        return _encoding(line, encoding)
    if "unterminated quote" in message:
        return f"line {line} opens a quote that is never closed; correct the line"
    return f"line {line} cannot be read as CSV" if line else "cannot be read as CSV; is it damaged or not a CSV file?"


def _encoding(line: int | None, encoding: str) -> str:
    return f"line {line} is not {encoding}; set `encoding` of its source (utf-8, utf-16 or latin-1)"
