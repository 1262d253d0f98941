"""Probe results as they are read: effective manipulations, matched records, and groups of targets."""

import numpy as np
import pytest
from planted_probes import PLANTED, QUERIES, SUITE, in_shards, planted_grids
from planted_probes import tuned as fine_tuned

from memaudit.common.errors import AuditError
from memaudit.common.io import write_grid
from memaudit.studies.iclmem import probe_results


@pytest.fixture(scope="module")
def base():
    return planted_grids()[0]["wine", "normal"]


@pytest.fixture(scope="module")
def tuned(base):
    return fine_tuned(base, PLANTED["idle"], np.random.default_rng(3))


def test_references_keep_the_effective_manipulations(base, tmp_path):
    write_grid(base, tmp_path / "0.nc")
    observed = probe_results.references([tmp_path / "0.nc"])["wine", "normal"]
    assert observed.manipulation.values.tolist() == list(SUITE)[:-1]
    write_grid(base.assign(signals=base.signals * np.nan), tmp_path / "1.nc")
    with pytest.raises(AuditError, match="data set wine: signals of the base model are missing"):
        probe_results.references([tmp_path / "1.nc"])


def test_shards_are_joined_in_the_order_of_their_splits(tuned, tmp_path):
    paths = in_shards(tuned, tmp_path / "idle", [0, 2, 5])
    assert probe_results.join_shards(paths[::-1]).split.values.tolist() == [0, 1, 2, 3, 4]


def test_records_are_matched_by_id_and_unknown_ones_are_an_error(base, tuned):
    own, reference = tuned.isel(split=1), base.isel(split=1)
    chosen = probe_results.places(own, reference)
    assert reference.id.values[chosen].tolist() == own.id.values.tolist()
    with pytest.raises(AuditError, match=r"split 1: the base model was not queried with 38 of the targets"):
        probe_results.places(own.assign_coords(id=own.id + "x"), reference)


def test_groups_are_disjoint_and_epochs_in_order(base, tuned):
    own = tuned.isel(split=0)
    reference = base.isel(split=0, manipulation=slice(0, 3))
    observed = list(probe_results.runs(own, reference.isel(target=probe_results.places(own, reference))))
    assert [epoch for epoch, _ in observed] == [1, 10]
    run = observed[1][1]
    assert (run.query.sum(), run.nonmember.sum(), run.context.sum()) == (QUERIES, QUERIES, 6)
    assert ((run.query.astype(int) + run.nonmember + run.context) == 1).all()
    assert run.tuned.shape == (38, 3, 4)


def test_facts_of_a_table_give_density_coverage_and_chance(base):
    facts = probe_results.table_facts(base.isel(split=0), 16)
    assert (facts["density"], facts["coverage"], facts["chance"]) == (400 / 3, 16 / 400, 0.4)
