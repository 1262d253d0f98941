"""A user's file behind a link with a safe name, checked to be readable, and its cells as Parquet."""

import codecs
import os
from pathlib import Path
from typing import Any, NamedTuple

from memaudit.auditing.reading.option_names import as_options
from memaudit.common.errors import AuditError
from memaudit.common.file_kinds import CSV, GZIPPED, PARQUET, PARQUET_NAMES, kind
from memaudit.data.table_sources import fetch

SUFFIXES = (*PARQUET_NAMES, ".csv", ".tsv", ".txt", ".gz")
LINKED = {PARQUET: ".parquet", CSV: ".csv", GZIPPED: ".csv.gz"}


def expanded(path: str | Path) -> Path:
    """The path with ~ expanded; a name that only begins like a home folder is kept."""
    return Path(os.path.expanduser(path))


def link(table: str | Path, folder: Path) -> Path:
    """A link to the table with a name that no engine reads as a pattern. Raises AuditError if it is not readable."""
    path = expanded(table)
    name = repr(str(table))
    try:
        if path.is_dir():
            raise AuditError(f"{name}: is a folder; name the CSV or Parquet file in it")
        if not path.is_file():
            if path.exists():
                raise AuditError(f"{name}: is no regular file but a pipe or a device; save the table as a file")
            raise AuditError(f"{name}: there is no such file; check the name and the current folder")
        suffix = LINKED[kind(path, name)]
    except OSError as error:
        raise AuditError(f"{name}: cannot be read ({error.strerror}); correct its permissions or its name") from None
    except ValueError:
        raise AuditError(f"{name}: is not a valid file name; check the name") from None
    linked = folder / f"source{suffix}"
    for old in folder.glob("source.*"):
        old.unlink()
    linked.symlink_to(path.resolve())
    return linked


class Fetched(NamedTuple):
    """raw: the table as Parquet, its cells unchanged; origin: facts of `fetch`; delimiter: None for a Parquet file."""

    raw: Path
    origin: dict[str, Any]
    delimiter: str | None


def fetched(table: str, folder: Path, encoding: str | None, delimiter: str | None) -> Fetched:
    """The user's table in a folder. Raises AuditError, one line with the name as the user gave it and no cell."""
    linked, raw = link(table, folder), folder / "raw.parquet"
    try:
        entry = source_entry(linked, encoding, delimiter)
        origin = fetch(entry, raw, folder)
    except AuditError as error:
        raise AuditError(in_users_words(error, linked, table)) from None
    if "file_row_number" in map(str.lower, origin["columns"]):
        raise AuditError(f"{table!r}: a column is called file_row_number, a reserved name; rename it")
    return Fetched(raw, origin, origin["delimiter"])


def source_entry(linked: Path, encoding: str | None, delimiter: str | None) -> dict[str, str | None]:
    """The file as a source of the catalogue. Raises AuditError for an invalid encoding or delimiter."""
    encoding = encoding or "utf-8"
    try:
        codecs.lookup(encoding)
    except LookupError:
        raise AuditError(
            f"--encoding {encoding!r}: is not an encoding; valid ones are for example utf-8, latin-1, cp1252 and utf-16"
        ) from None
    if delimiter is not None and len(delimiter) != 1:
        raise AuditError(
            f"--delimiter {delimiter!r}: must be one character, such as ; or | (a tab: --delimiter $'\\t')"
        )
    return {"source": "file", "path": str(linked), "encoding": encoding, "delimiter": delimiter}


def in_users_words(error: AuditError, linked: Path, table: str) -> str:
    """The message with the table's name in place of the link's, and options in place of keys of a config."""
    name = repr(table)
    return as_options(str(error).replace(f"file {linked}", name).replace(str(linked), name))


def stem(table: str | Path) -> str:
    """Name of the audit's folder, from the table's file name: only letters, digits, _ and -."""
    name = os.path.basename(str(table))
    while name.lower().endswith(SUFFIXES):
        name = name.rpartition(".")[0]
    kept = "".join(sign if sign.isascii() and (sign.isalnum() or sign in "_-") else "-" for sign in name)
    return kept.strip("-")[:40] or "table"
