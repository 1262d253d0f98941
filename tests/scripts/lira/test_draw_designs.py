"""Who is in which context: balanced halves of the members, and small supersets within a population."""

import numpy as np
import pandas as pd
import pytest
from lira_grids import call

from memaudit.common.errors import AuditError
from memaudit.common.io import read_grid, write_table

COUNT = 600
SMALL = {"draw": "fixed_size", "models": 20, "context": 8, "supersets": 2, "targets": 16}


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    folder = tmp_path_factory.mktemp("designs")
    names = [f"{number:04x}" for number in range(COUNT)]
    write_table(pd.DataFrame({"id": names, "group": np.arange(COUNT) // 2}), folder / "records.parquet")
    side = np.where(np.arange(COUNT) < 480, "members", "nonmembers")
    write_table(pd.DataFrame({"id": names, "side": side}), folder / "split.parquet")
    return folder


def drawn(folder, name, setting):
    inputs = [f"records={folder}/records.parquet", f"split={folder}/split.parquet"]
    call("lira_draw_designs", inputs, [folder / f"{name}.nc"], of_grid=name, grid=setting)
    return read_grid(folder / f"{name}.nc")


def test_members_are_in_half_of_every_block_and_others_in_no_context(table):
    grid = drawn(table, "efficient", {"draw": "balanced", "models": 32, "block": 16})
    member = grid.member.values
    assert (grid.design.values[:16, member].sum(0) == 8).all()
    assert not grid.design.values[:, ~member].any()
    np.testing.assert_array_equal(grid.design.values[:, ::2], grid.design.values[:, 1::2])
    assert grid.population == 240


def test_a_superset_is_the_same_in_its_own_grid_and_in_that_of_the_population(table):
    population, *small = (drawn(table, name, SMALL) for name in ("population", "superset0", "superset1"))
    for number, grid in enumerate(small):
        np.testing.assert_array_equal(grid.superset.values, population.superset.values)
        assert not grid.design.values[:, grid.superset.values != number].any()
        # Units of two records each.
        assert (grid.design.values.sum(1) == 2 * SMALL["context"]).all()
        assert grid.population == SMALL["targets"]
    np.testing.assert_array_equal(population.asked.values, population.superset.values >= 0)


def test_a_table_that_is_too_small_for_a_population_is_named(table):
    with pytest.raises(AuditError, match="data set wine: 240 members cannot stand for a population"):
        drawn(table, "population", SMALL | {"context": 20})


def test_without_a_split_all_records_are_members(table):
    setting = {"draw": "balanced", "models": 32, "block": 16}
    call("lira_draw_designs", [f"records={table}/records.parquet"], [table / "whole.nc"], grid=setting)
    grid = read_grid(table / "whole.nc")
    assert grid.member.values.all()
    assert (grid.design.values.sum(0) == 16).all()
    assert grid.population == COUNT // 2
