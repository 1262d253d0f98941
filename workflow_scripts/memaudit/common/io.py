"""Artifacts on disk: tables as Parquet, grids as NetCDF, small facts as JSON. Nothing is ever half written."""

import json
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq
import xarray as xr

from memaudit.common.errors import AuditError

MISSING = "run the same command again, it is made anew"
DAMAGED = f"delete it and {MISSING}"
MEBIBYTE = 2**20


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path beside `path`; rename it to `path` if the block succeeds, remove it if not.

    Raises OSError that names `path` where no more can be written.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    # A process id would not do: on two machines, or in two containers, it may be the same.
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        yield temporary
        temporary.replace(path)
    except Exception:
        _write_on(temporary, path)
        raise
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def replacing_folder(path: str | Path) -> Iterator[Path]:
    """Yield a temporary folder beside `path`; it takes the place of `path` if the block succeeds, and goes if not."""
    path = Path(path)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    temporary.mkdir(parents=True)
    try:
        yield temporary
        # No rename replaces a folder that holds something.
        shutil.rmtree(path, ignore_errors=True)
        temporary.rename(path)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _write_on(temporary: Path, path: Path) -> None:
    """Ask the disk itself: of a full one netCDF says "HDF error", numpy "0 written", torch "unexpected pos"."""
    try:
        with open(temporary, "ab") as file:
            file.write(bytes(MEBIBYTE))
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error


def write_table(table: pd.DataFrame, path: str | Path) -> None:
    """Write a table as Parquet."""
    with replacing(path) as temporary:
        table.to_parquet(temporary, index=False)


def read_table(path: str | Path, columns: list[str] | None = None, *, remedy: str | None = None) -> pd.DataFrame:
    """Read a Parquet table. Raises AuditError if the file is missing or damaged; remedy: see `readable`."""
    with readable(path, remedy):
        return pd.read_parquet(path, columns=columns)


def read_columns(path: str | Path) -> list[str]:
    """Names of a Parquet table's columns. Raises AuditError if the file is missing or damaged."""
    with readable(path):
        return pq.read_schema(path).names


def write_grid(grid: xr.Dataset, path: str | Path) -> None:
    """Write a score matrix, dims (model, record[, signal]), as compressed NetCDF."""
    with replacing(path) as temporary:
        grid.to_netcdf(temporary, engine="netcdf4", encoding={name: {"zlib": True} for name in grid.data_vars})


def read_grid(path: str | Path) -> xr.Dataset:
    """Read a score matrix into memory. Raises AuditError if the file is missing or damaged."""
    with readable(path):
        return xr.load_dataset(path, engine="netcdf4")


def write_json(value: Any, path: str | Path) -> None:
    """Write JSON with sorted keys."""
    with replacing(path) as temporary:
        temporary.write_text(json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False) + "\n", encoding="utf-8")


def read_json(path: str | Path) -> Any:
    """Read JSON. Raises AuditError if the file is missing or damaged."""
    with readable(path):
        return json.loads(Path(path).read_text(encoding="utf-8"))


@contextmanager
def readable(path: str | Path, remedy: str | None = None) -> Iterator[None]:
    """Turn the errors of a missing or damaged file into an AuditError that names it.

    remedy: what to do about it, of a file that is the user's; others are made anew.
    """
    try:
        yield
    except FileNotFoundError as error:
        raise AuditError(f"{path}: is not there; {remedy or MISSING}") from error
    except (OSError, ValueError, RuntimeError, EOFError) as error:
        reason = str(error).partition("\n")[0] or type(error).__name__
        raise AuditError(f"{path}: cannot be read ({reason}); {remedy or DAMAGED}") from error
