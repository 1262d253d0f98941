"""Number of rows and features of a local table before it is read, for what is planned."""

import gzip
import zlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from memaudit.common.errors import AuditError
from memaudit.common.file_kinds import GZIPPED, PARQUET, kind

DELIMITERS = (b",", b";", b"\t", b"|")
BLOCK = 2**22


def counted(entry: Mapping[str, Any]) -> dict[str, int]:
    """{"rows", "columns"} of the file of a catalogue entry, columns without the target; {} for what is no table.

    A CSV's lines and the delimiters of its header are counted, so that those within quotes count, too.
    """
    path = Path(entry["path"]).expanduser()
    try:
        state = path.stat()
        return dict(_counted(path, entry["delimiter"], state.st_size, state.st_mtime_ns))
    # The check of local tables, or the job that reads it, says what is wrong with it.
    except (OSError, EOFError, ValueError, zlib.error, AuditError):
        return {}


@cache
def _counted(path: Path, delimiter: str | None, *state: int) -> dict[str, int]:
    found = kind(path, path)
    if found == PARQUET:
        import pyarrow.parquet as pq  # takes longer than the rest of a plan's start

        about = pq.read_metadata(path)
        return {"rows": about.num_rows, "columns": about.num_columns - 1}
    lines, last, head = 0, b"", b""
    with gzip.open(path) if found == GZIPPED else open(path, "rb") as file:
        while block := file.read(BLOCK):
            head = head or block
            lines += block.count(b"\n") or block.count(b"\r")  # files of old programs end lines by these alone
            last = block[-1:]
    first = (head.splitlines() or [b""])[0]
    delimiters = [delimiter.encode()] if delimiter else DELIMITERS
    return {"rows": lines - (last in b"\r\n"), "columns": max(1, *map(first.count, delimiters))}
