"""Number of rows and features of a local table before it is read, for what is planned."""

import csv
import gzip
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from memaudit.common.errors import AuditError
from memaudit.common.file_kinds import GZIPPED, PARQUET, kind

DELIMITERS = (",", ";", "\t", "|")
BLOCK = 2**22


def counted(entry: Mapping[str, Any]) -> dict[str, int]:
    """{"rows", "columns"} of the file of a catalogue entry, columns without the target; {} for what is no table.

    A CSV's lines are counted, so that line breaks within quotes count as rows.
    """
    path = Path(entry["path"]).expanduser()
    try:
        state = path.stat()
        return dict(_counted(path, entry["delimiter"], state.st_size, state.st_mtime_ns))
    except (
        OSError,
        EOFError,
        ValueError,
        AuditError,
    ):  # told by the check of local tables, or by the job that reads it
        return {}


@cache
def _counted(path: Path, delimiter: str | None, *state: int) -> dict[str, int]:
    found = kind(path, path)
    if found == PARQUET:
        import pyarrow.parquet as pq  # takes longer than the rest of a plan's start

        about = pq.read_metadata(path)
        return {"rows": about.num_rows, "columns": about.num_columns - 1}
    with gzip.open(path) if found == GZIPPED else open(path, "rb") as file:
        first = file.readline().decode("latin-1").rstrip("\r\n")
        rows, last = 0, b"\n"
        while block := file.read(BLOCK):
            rows, last = rows + block.count(b"\n"), block[-1:]
    names = next(csv.reader([first], delimiter=delimiter or max(DELIMITERS, key=first.count)), [])
    return {"rows": rows + (last != b"\n"), "columns": max(len(names) - 1, 1)}
