"""Kinds of table files by their first bytes, since a name may state another."""

from pathlib import Path

from memaudit.common.errors import AuditError

PARQUET, CSV, GZIPPED = "parquet", "csv", "gzipped csv"
PARQUET_NAMES = (".parquet", ".pq")
MAGIC, GZIP = b"PAR1", b"\x1f\x8b"
ARCHIVES = {b"PK\x03\x04": "a zip archive or a workbook (xlsx, ods)", b"\xd0\xcf\x11\xe0": "a workbook (xls)"}


def kind(path: Path, name: object) -> str:
    """PARQUET, CSV or GZIPPED (a CSV); name: of the file in messages.

    Raises AuditError for an empty file, an archive, a workbook, and a CSV that is called Parquet; OSError if it cannot
    be read.
    """
    with open(path, "rb") as file:
        start = file.read(4)
    if not start:
        raise AuditError(f"{name}: the file is empty (0 bytes); export it again")
    if start in ARCHIVES:
        raise AuditError(f"{name}: is {ARCHIVES[start]}; extract the table, or save it as CSV or Parquet")
    if start == MAGIC:
        return PARQUET
    if path.suffix in PARQUET_NAMES:
        raise AuditError(f"{name}: is not a Parquet file (it does not begin like one); export it again")
    return GZIPPED if start.startswith(GZIP) else CSV
