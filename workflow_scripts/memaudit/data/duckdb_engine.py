"""DuckDB as the engine for tables that may be larger than memory."""

import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb

from memaudit.common.errors import AuditError
from memaudit.common.io import DAMAGED

# A table of 10 million rows must fit into 4 GiB, with Python, Arrow and the allocator beside the engine.
MEMORY = "1500MB"


@contextmanager
def connect(folder: str | Path, threads: int = 1) -> Iterator[duckdb.DuckDBPyConnection]:
    """Yield a connection that spills into a temporary folder below `folder` and never uses the network.

    Raises AuditError that names the file for a damaged Parquet file.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".spill-", dir=folder) as spill:
        settings = {
            "memory_limit": MEMORY,
            "temp_directory": spill,
            "threads": threads,
            "autoinstall_known_extensions": False,
        }
        with duckdb.connect(config=settings) as connection:
            # A Jupyter kernel without ipywidgets has no bar, and refuses to set it.
            if connection.execute("SELECT current_setting('enable_progress_bar')").fetchone()[0]:
                connection.execute("SET enable_progress_bar = false")
            try:
                yield connection
            except duckdb.InvalidInputException as error:
                # The message also quotes values of the table: only the file's name may be reported.
                if file := re.search(r"[Ff]ile (['\"])(.+?)\1", str(error)):
                    raise AuditError(f"{file[2]}: cannot be read; {DAMAGED}") from None
                raise


def identifier(name: str) -> str:
    """A column's name as SQL: a name from data never becomes code."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str | Path) -> str:
    """A string as SQL."""
    return "'" + str(text).replace("'", "''") + "'"


def parquet(path: str | Path) -> str:
    """A Parquet file as SQL, with the row's position as `file_row_number`."""
    return f"read_parquet({literal(path)}, file_row_number = true)"
