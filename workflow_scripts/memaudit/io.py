"""Artifacts on disk: tables as Parquet, grids as NetCDF, small facts as JSON. Nothing is ever half written."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd
import xarray as xr

from memaudit.errors import AuditError


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path beside `path`; rename it to `path` if the block succeeds, remove it if not."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        yield temporary
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def write_table(table: pd.DataFrame, path: str | Path) -> None:
    """Write a table as Parquet."""
    with replacing(path) as temporary:
        table.to_parquet(temporary, index=False)


def read_table(path: str | Path, columns: list[str] | None = None) -> pd.DataFrame:
    """Read a Parquet table. Raises AuditError if the file is missing or damaged."""
    with _readable(path):
        return pd.read_parquet(path, columns=columns)


def write_grid(grid: xr.Dataset, path: str | Path) -> None:
    """Write a signal grid, dims (model, record[, signal]), as compressed NetCDF."""
    with replacing(path) as temporary:
        grid.to_netcdf(temporary, engine="netcdf4", encoding={name: {"zlib": True} for name in grid.data_vars})


def read_grid(path: str | Path) -> xr.Dataset:
    """Read a signal grid into memory. Raises AuditError if the file is missing or damaged."""
    with _readable(path):
        return xr.load_dataset(path, engine="netcdf4")


def write_json(value: Any, path: str | Path) -> None:
    """Write JSON with sorted keys."""
    with replacing(path) as temporary:
        temporary.write_text(json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False) + "\n", encoding="utf-8")


def read_json(path: str | Path) -> Any:
    """Read JSON. Raises AuditError if the file is missing or damaged."""
    with _readable(path):
        return json.loads(Path(path).read_text(encoding="utf-8"))


@contextmanager
def _readable(path: str | Path) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError) as error:
        raise AuditError(
            f"{path}: cannot be read ({error}); delete it and run again, its rule makes it anew"
        ) from error
