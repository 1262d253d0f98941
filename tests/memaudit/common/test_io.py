"""Artifacts are written whole or not at all; a damaged one and a full disk are named."""

import errno
import json
import os

import numpy as np
import pandas as pd
import pytest
import torch
import xarray as xr
from conftest import mounted
from matplotlib.figure import Figure

from memaudit.common.errors import AuditError
from memaudit.common.io import (
    read_columns,
    read_grid,
    read_json,
    read_table,
    replacing,
    write_grid,
    write_json,
    write_table,
)
from memaudit.data.duckdb_engine import connect, literal

NOISE = np.random.default_rng(0).normal(size=(2000, 50))
TABLE = pd.DataFrame(NOISE[:200]).rename(columns=str).assign(name="a text")
GRID = xr.Dataset({"signal": (("model", "record"), NOISE)})


def ask_duckdb(path):
    with connect(path.parent) as connection:
        return connection.execute(f"SELECT * FROM read_parquet({literal(path)})").fetchall()


FORMATS = {
    "table": (write_table, TABLE, read_table),
    "table for DuckDB": (write_table, TABLE, ask_duckdb),
    "grid": (write_grid, GRID, read_grid),
    "json": (write_json, {"a": ["b"] * 9}, read_json),
}
DAMAGES = {
    "empty": lambda content: b"",
    "cut in half": lambda content: content[: len(content) // 2],
    "without its end": lambda content: content[:-20],
    "text": lambda _: b"garbage",
    "noise": lambda content: np.random.default_rng(1).bytes(len(content)),
    "noise in the middle": lambda content: (
        content[:99] + np.random.default_rng(1).bytes(len(content) // 2) + content[-99:]
    ),
}


# DuckDB names the file unless its page headers are damaged.
@pytest.mark.parametrize(
    ("kind", "damage"),
    sorted({(kind, damage) for kind in FORMATS for damage in DAMAGES} - {("table for DuckDB", "noise in the middle")}),
)
def test_a_damaged_file_is_named_with_the_way_to_make_it_again(kind, damage, tmp_path):
    write, value, read = FORMATS[kind]
    path = tmp_path / "artifact"
    write(value, path)
    path.write_bytes(DAMAGES[damage](path.read_bytes()))
    with pytest.raises(AuditError) as caught:
        read(path)
    assert str(caught.value).startswith(f"{path}: cannot be read")
    assert str(caught.value).endswith("; delete it and run the same command again, it is made anew")
    assert "\n" not in str(caught.value)


def test_a_grid_whose_values_alone_are_damaged_is_named(tmp_path):
    write_grid(GRID, tmp_path / "artifact")
    content = (tmp_path / "artifact").read_bytes()
    place = len(content) * 3 // 4
    (tmp_path / "artifact").write_bytes(content[:place] + b"noise" * 99 + content[place + 495 :])
    with pytest.raises(AuditError, match="artifact: cannot be read"):
        read_grid(tmp_path / "artifact")


def test_columns_are_named_without_reading_the_table_and_a_missing_file_is_named(tmp_path):
    write_table(TABLE, tmp_path / "artifact")
    assert read_columns(tmp_path / "artifact")[-1] == "name"
    with pytest.raises(AuditError, match=r"nothing: is not there; run the same command again, it is made anew$"):
        read_columns(tmp_path / "nothing")


def test_a_value_of_the_table_never_stands_in_the_error(tmp_path):
    write_table(pd.DataFrame({"name": ["secret\xe9"] * 3}), tmp_path / "artifact")
    path = tmp_path / "artifact"
    path.write_bytes(path.read_bytes().replace("é".encode(), b"\xff\xff"))
    with pytest.raises(AuditError) as caught:
        ask_duckdb(path)
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None


def write_half(path):
    with replacing(path) as temporary:
        temporary.write_text("half")
        raise ZeroDivisionError


def test_what_fails_leaves_the_old_file_and_no_other(tmp_path):
    write_json(1, tmp_path / "artifact")
    with pytest.raises(ZeroDivisionError):
        write_half(tmp_path / "artifact")
    assert [path.name for path in tmp_path.iterdir()] == ["artifact"]
    assert json.loads((tmp_path / "artifact").read_text()) == 1


def test_a_file_has_the_rights_that_the_user_gives_to_files(tmp_path):
    mask = os.umask(0o027)
    try:
        write_json(1, tmp_path / "artifact")
    finally:
        os.umask(mask)
    assert (tmp_path / "artifact").stat().st_mode & 0o777 == 0o640


def savefig(path):
    figure = Figure(figsize=(9, 9), dpi=300)
    figure.add_subplot().imshow(NOISE)
    figure.savefig(path, format="png")


def save_numpy(path):
    with open(path, "wb") as file:
        np.save(file, NOISE)


def copy_duckdb(path):
    with connect(path.parent) as connection:
        connection.execute(f"COPY (SELECT random() FROM range(200000)) TO {literal(path)} (FORMAT parquet)")


WRITERS = {
    "pandas": lambda path: pd.DataFrame(NOISE).rename(columns=str).to_parquet(path),
    "netcdf": lambda path: GRID.to_netcdf(path, engine="netcdf4"),
    "text": lambda path: path.write_text("x" * 10**6),
    "torch": lambda path: torch.save(torch.from_numpy(NOISE), path),
    "numpy": save_numpy,
    "matplotlib": savefig,
    "duckdb": copy_duckdb,
}


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 128 KiB."""
    with mounted(tmp_path, "-t", "tmpfs", "-o", "size=128k", "tmpfs"):
        yield tmp_path


@pytest.mark.parametrize("writer", WRITERS)
def test_a_full_disk_is_named_whatever_the_library_makes_of_it(writer, small_disk):
    with pytest.raises(OSError, match="No space left on device") as caught, replacing(small_disk / "artifact") as path:
        WRITERS[writer](path)
    assert caught.value.errno == errno.ENOSPC
    assert caught.value.filename == str(small_disk / "artifact")
    assert not list(small_disk.glob(".*.part"))
