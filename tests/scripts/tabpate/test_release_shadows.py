"""Shadow contexts of PATE students: balanced halves, the same queries, one release each."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from tabpate_tables import FACTS, RECORDS, ROLES, shadows

from memaudit.common.errors import AuditError
from memaudit.common.io import read_table, write_table
from memaudit.data.public_private_split import nominal_private
from memaudit.studies.tabpate.evaluation_tables import open_table

pytestmark = pytest.mark.usefixtures("one_thread")


def test_halves_are_balanced_by_unit_and_the_same_for_all_conditions(world):
    grid, records = shadows(world), read_table(world / "records.parquet").set_index("id")
    role = open_table(*(world / file for file in ("records.parquet", "schema.json", "towns.yaml", "key"))).roles(
        ROLES, 1, 0
    )
    asked = records.index[np.isin(role, ["private", "test"])]
    assert grid.record.values.tolist() == asked.tolist(), "held-out records are public, and nobody asks about them"
    assert grid.member.values.tolist() == (role == "private")[role != "held out"].tolist()
    whole = grid.design.values
    assert not whole[:, ~grid.member.values].any()
    for arm, rows in pd.Series(grid.arm.values).groupby(grid.arm.values).groups.items():
        design = whole[rows][:, grid.member.values]
        assert np.array_equal(design, whole[::3][:, grid.member.values]), arm
        assert (design[:8].sum(0) == 4).all()
        assert (design[8:].sum(0) == 4).all()
    units = records["group"].loc[grid.record.values].to_numpy()
    for unit in np.unique(units):
        assert (whole[:, units == unit] == whole[:, units == unit][:, :1]).all()
    assert len(np.unique(grid.unit.values)) == len(np.unique(units))
    assert grid["set"].values.tolist() == np.repeat(range(16), 3).tolist()
    assert set(grid.epsilon.values) == {np.inf, 1.0}


def test_the_mechanism_gets_half_the_records_and_half_of_their_nominal_number(world, handed):
    grid = shadows(world, pairs=[["as_published", 1.0], ["as_published", 10.0], ["shown", 1.0]])
    assert [method for method, *_ in handed[:3]] == ["tabpate", "tabpate", "prompt-pate"]
    nominal = nominal_private(300, ROLES, held_out=True)  # of the private records, by public numbers alone
    assert {private.public.records for _, private, *_ in handed} == {nominal // 2}
    design = grid.design.values
    assert [len(private.y) for _, private, *_ in handed] == design.sum(1).tolist()
    records = read_table(world / "records.parquet").set_index("id")
    for inside, (_, private, *_) in zip(design, handed, strict=True):
        assert private.units == records["group"].loc[grid.record.values[inside]].tolist()
        assert len(private.unlabelled) == RECORDS - grid.sizes["record"], "what is public stays public"
    assert {budget.epsilon for *_, budget, _ in handed} == {1.0, 10.0}


def test_a_condition_has_the_same_queries_in_all_shadow_contexts_and_at_every_epsilon(world, handed):
    shadows(world, pairs=[["as_published", 1.0], ["as_published", 10.0], ["shown", 1.0]])
    draws = {method: {tuple(draw) for name, *_, draw in handed if name == method} for method, *_ in handed}
    assert {method: len(found) for method, found in draws.items()} == {"tabpate": 1, "prompt-pate": 1}
    assert draws["tabpate"] != draws["prompt-pate"]


def test_nothing_depends_on_the_shard(world, handed):
    whole = shadows(world)
    parts = [shadows(world, part, part, shard=6) for part in ("0", "1", "2")]
    assert [part.sizes["release"] for part in parts] == [18, 18, 12]
    joined = xr.concat(parts, "release", data_vars="minimal", coords="minimal", combine_attrs="override")
    xr.testing.assert_equal(joined, whole)


def test_the_first_sets_of_more_are_the_same(world, handed):
    xr.testing.assert_equal(shadows(world, "more", sets=24).isel(release=slice(48)), shadows(world))


def test_sets_that_are_no_whole_blocks_and_number_targets_are_refused(world):
    with pytest.raises(AuditError, match="20 shadow contexts do not fill whole blocks; use a multiple of 8"):
        shadows(world, sets=20)
    records = read_table(world / "records.parquet")
    write_table(records.assign(target=np.arange(RECORDS) / RECORDS), world / "records.parquet")
    (world / "towns.yaml").write_text(FACTS.format(task="regression", target="[0, 1]"))
    with pytest.raises(AuditError, match="data set towns: the target is a number"):
        shadows(world)


def test_methods_that_answer_themselves_are_attacked_too(world):
    """Query-Time says a label for each record; a network of DP-SGD is trained anew on each set."""
    asked = {"method": "query-time", "held_out": False, "settings": {"teachers": 4}}
    trained = {"method": "dp-sgd", "held_out": False, "settings": {"steps": 2}}
    both = {"arms": {"asked": asked, "trained": trained}, "pairs": [["asked", 1.0], ["trained", 1.0]]}
    grid = shadows(world, sets=8, shard=8, **both)
    predicted, network = (grid.logits.values[grid.arm.values == arm] for arm in ("asked", "trained"))
    assert (np.isfinite(predicted).sum(-1) == 1).all()
    assert np.isfinite(network).all()
    assert len({one.tobytes() for one in network}) == 8
