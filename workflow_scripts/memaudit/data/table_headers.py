"""Column names of a local table, from its header alone."""

import codecs
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from memaudit.common.errors import AuditError
from memaudit.common.file_kinds import PARQUET, kind
from memaudit.data.csv_to_parquet import detected_delimiter, header, unique


def column_names(entry: Mapping[str, Any], path: Path) -> list[str]:
    """The names, as the fetched table has them; entry: delimiter and encoding of a CSV, None: as they are detected.

    Raises AuditError for a file that is no table, for missing and for repeated names.
    """
    try:
        if kind(path, path) == PARQUET:
            return unique(pq.read_schema(path).names, path)
    except (OSError, ValueError) as error:
        raise AuditError(f"{path}: cannot be read ({error})") from None
    encoding = entry["encoding"] or "utf-8"
    try:
        codecs.lookup(encoding)
    except LookupError:
        raise AuditError(f"{path}: encoding {encoding!r} is unknown; name one, such as utf-8 or cp1252") from None
    return header(path, entry["delimiter"] or detected_delimiter(path, encoding), encoding)[0]
