"""CSV to Parquet, streamed. Every cell stays text; errors are one line and quote no value of the table."""

import csv
import gzip
import io
import re
import tempfile
import zlib
from contextlib import suppress
from pathlib import Path
from typing import TextIO

import duckdb

from memaudit.common.errors import AuditError
from memaudit.common.file_kinds import GZIPPED, kind
from memaudit.data.duckdb_engine import literal

NAMED_ENDS = {"\n": r"\n", "\r\n": r"\r\n"}  # of DuckDB; it finds CR by itself
BYTES = "surrogateescape"  # invalid bytes are kept, so that the engine reports their line
BLOCK = 2**20  # characters
DELIMITERS = ",;\t|"
HEAD = 65536  # most characters of the header that are read


def to_parquet(
    connection: duckdb.DuckDBPyConnection,
    source: Path,
    target: Path,
    delimiter: str = ",",
    encoding: str = "utf-8",
) -> None:
    """Copy a CSV file (may be gzipped) with a header line to Parquet, all columns text, empty cells missing.

    Lines may end in LF, CRLF or CR, or in several of them. Raises AuditError for an empty file, an unreadable encoding,
    a ragged row (with its line number), an open quote, and missing or repeated column names.
    """
    names, ending = header(source, delimiter, encoding)
    columns = ", ".join(f"{literal(name)}: 'VARCHAR'" for name in names)
    compressed = kind(source, source) == GZIPPED

    def copy(file: Path, ending: str, encoding: str) -> None:
        # By itself the engine takes a line break within a quoted name of the header for the end of all lines.
        lines = "" if ending not in NAMED_ENDS else f", new_line = '{NAMED_ENDS[ending]}'"
        table = (
            f"read_csv({literal(file)}, auto_detect = false, header = true, columns = {{{columns}}}, "
            f"delim = {literal(delimiter)}, quote = '\"', escape = '\"', encoding = {literal(encoding)}{lines}, "
            f"compression = '{'gzip' if file == source and compressed else 'none'}')"
        )
        connection.execute(f"COPY (SELECT * FROM {table}) TO {literal(target)} (FORMAT parquet)")

    try:
        try:
            copy(source, ending, encoding)
        except duckdb.Error as error:
            if _is_encoding(str(error)):
                raise
            # The engine fails in several ways on lines that end differently.
            with tempfile.TemporaryDirectory(dir=target.parent, prefix=".lines-") as folder:
                same = Path(folder, "lines.csv")
                _end_lines_alike(source, same, encoding)
                copy(same, "\n", "utf-8")
    except duckdb.Error as error:
        raise AuditError(f"{source}: {_reason(str(error), encoding)}") from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise AuditError(f"{source}: cannot be read ({error})") from None


def detected_delimiter(file: Path, encoding: str) -> str:
    """The delimiter that occurs most often in the header outside quotes; a comma if none does."""
    head = ""
    with suppress(OSError, EOFError, UnicodeError, zlib.error), _opened(file, encoding) as text:
        head = text.read(HEAD)
    counts = {sign: _fields(head, sign) for sign in DELIMITERS}
    return max(DELIMITERS, key=lambda sign: counts[sign])


def _fields(head: str, sign: str) -> int:
    """Number of fields of the header, whose names may hold line breaks within quotes."""
    try:
        return len(next(csv.reader(io.StringIO(head, newline=""), delimiter=sign), []))
    except csv.Error:
        return 0


def header(source: Path, delimiter: str, encoding: str) -> tuple[list[str], str]:
    """Return the column names in the file's header, and the line end after it (empty if there is none)."""
    try:
        # Reading ahead decodes more than the first line: the engine reports invalid bytes further on.
        with _opened(source, encoding) as file:
            read = []
            names = next(csv.reader((read.append(line) or line for line in file), delimiter=delimiter), [])
        "".join(names).encode()
    except UnicodeError:
        raise AuditError(f"{source}: {_encoding(1, encoding.removesuffix('-sig'))}") from None
    except (OSError, EOFError, zlib.error, csv.Error) as error:
        raise AuditError(f"{source}: cannot be read ({error})") from None
    if not names:
        raise AuditError(f"{source}: the file is empty (0 rows, no header); fetch or export it again")
    if "\0" in "".join(names):
        raise AuditError(f"{source}: NUL bytes in the header: damaged, or utf-16; set `encoding` of its source")
    last = read[-1]
    return unique(names, source), last[len(last.rstrip("\r\n")) :]


def _opened(source: Path, encoding: str) -> TextIO:
    opener = gzip.open if kind(source, source) == GZIPPED else open
    encoding = "utf-8-sig" if encoding == "utf-8" else encoding
    return opener(source, "rt", encoding=encoding, errors=BYTES, newline="")


def _end_lines_alike(source: Path, target: Path, encoding: str) -> None:
    """Copy a CSV file as UTF-8 with LF at the end of every line; line breaks within quotes are kept."""
    quoted, rest = False, ""
    with _opened(source, encoding) as file, open(target, "w", encoding="utf-8", errors=BYTES, newline="") as copy:
        while block := file.read(BLOCK):
            block, rest = rest + block, ""
            if block.endswith("\r"):  # an LF may follow
                block, rest = block[:-1], "\r"
            parts = block.split('"')
            outside = slice(int(quoted), None, 2)
            parts[outside] = [part.replace("\r\n", "\n").replace("\r", "\n") for part in parts[outside]]
            quoted ^= len(parts) % 2 == 0
            copy.write('"'.join(parts))
        copy.write(rest if quoted else rest.replace("\r", "\n"))


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
    if _is_encoding(message):
        return _encoding(line, encoding)
    if "unterminated quote" in message:
        return f"line {line} opens a quote that is never closed; correct the line"
    return f"line {line} cannot be read as CSV" if line else "cannot be read as CSV; is it damaged or not a CSV file?"


def _is_encoding(message: str) -> bool:
    return "unicode" in message or "encoded" in message


def _encoding(line: int | None, encoding: str) -> str:
    return f"line {line} is not {encoding}; set `encoding` of its source (utf-8, utf-16 or latin-1)"
