"""A user's file under a safe name: found, readable, its delimiter known. Its own name goes no further."""

import csv
import gzip
import os
import zlib
from contextlib import suppress
from pathlib import Path

from memaudit.errors import AuditError

PARQUET = (".parquet", ".pq")
SUFFIXES = (*PARQUET, ".csv", ".tsv", ".txt", ".gz")
DELIMITERS = ",;\t|"
HEAD = 65536  # bytes of the first line that are looked at
GZIP, MAGIC = b"\x1f\x8b", b"PAR1"


def expanded(path: str | Path) -> Path:
    """The path with a user's ~ filled in; a name that begins like one, but is none, is taken as it stands."""
    return Path(os.path.expanduser(path))


def link(table: str | Path, folder: Path) -> Path:
    """A link to the table with a name that no engine reads as a pattern. Raises AuditError for what is no file."""
    path = expanded(table)
    shown = ascii(str(table))
    try:
        if path.is_dir():
            raise AuditError(f"{shown}: is a folder; name the CSV or Parquet file in it")
        if not path.is_file():
            raise AuditError(f"{shown}: there is no such file; check the name, and the folder that you are in")
        with open(path, "rb") as file:
            start = file.read(4)
    except OSError as error:
        raise AuditError(f"{shown}: cannot be read ({error.strerror}); mend its rights or its name") from None
    except ValueError:
        raise AuditError(f"{shown}: no file can be called so; check the name") from None
    if not start:
        raise AuditError(f"{shown}: the file is empty (0 bytes); export it again")
    if start == MAGIC:
        suffix = ".parquet"
    elif path.suffix in PARQUET:
        raise AuditError(f"{shown}: is no Parquet file (it does not begin like one); export it again")
    else:
        suffix = ".csv.gz" if start[:2] == GZIP else ".csv"
    found = folder / f"source{suffix}"
    for old in folder.glob("source.*"):
        old.unlink()
    found.symlink_to(path.resolve())
    return found


def delimiter(file: Path, encoding: str) -> str:
    """The delimiter that stands most often in the first line, outside quotes; a comma if none does."""
    opener = gzip.open if file.suffix == ".gz" else open
    line = ""
    with (
        suppress(OSError, EOFError, UnicodeError, zlib.error),
        opener(file, "rt", encoding=encoding, errors="replace") as text,
    ):
        line = text.readline(HEAD)
    counts = {sign: _fields(line, sign) for sign in DELIMITERS}
    return max(DELIMITERS, key=lambda sign: counts[sign])


def _fields(line: str, sign: str) -> int:
    try:
        return len(next(csv.reader([line], delimiter=sign), []))
    except csv.Error:
        return 0


def stem(table: str | Path) -> str:
    """A folder's name for the audit of a table: letters, digits, _ and - of the file's name."""
    name = os.path.basename(str(table))
    while name.lower().endswith(SUFFIXES):
        name = name.rpartition(".")[0]
    kept = "".join(sign if sign.isascii() and (sign.isalnum() or sign in "_-") else "-" for sign in name)
    return kept.strip("-")[:40] or "table"
