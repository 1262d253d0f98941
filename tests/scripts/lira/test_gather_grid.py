"""Shards are put together in the order of the models, beside their membership."""

import pytest
import xarray as xr
from lira_grids import call, efficient

from memaudit.common.errors import AuditError
from memaudit.common.io import read_grid, write_grid


def shards(grid, folder, parts):
    write_grid(grid.drop_vars("signal"), folder / "design.nc")
    paths = []
    for number, part in enumerate(parts):
        paths.append(folder / f"{number}.nc")
        kept = grid[["signal"]].isel(model=part).drop_vars(["member", "unit", "superset"])
        write_grid(kept, paths[-1])
    return [folder / "design.nc", *paths]


def test_shards_in_any_order_make_the_whole(tmp_path):
    grid = efficient(tmp_path / "whole.nc")
    files = shards(grid, tmp_path, [slice(30, 64), slice(0, 30)])
    call("lira_gather_grid", files, [tmp_path / "grid.nc"])
    found = read_grid(tmp_path / "grid.nc")
    xr.testing.assert_equal(found.signal, grid.signal)
    xr.testing.assert_equal(found.design, grid.design)


def test_a_missing_shard_is_named_by_its_number_of_models(tmp_path):
    files = shards(efficient(tmp_path / "whole.nc"), tmp_path, [slice(0, 30)])
    with pytest.raises(AuditError, match="30 models in the shards, 64 in the design"):
        call("lira_gather_grid", files, [tmp_path / "grid.nc"])
