"""Answers of methods that release no context: for the test records of each repeat, and for no other record."""

import numpy as np
import pytest
from conftest import load_script
from tabpate_tables import RECORDS, ROLES, Neighbour, call, files

from memaudit.common.errors import AuditError
from memaudit.common.io import read_grid
from memaudit.studies.tabpate.evaluation_tables import open_table

pytestmark = pytest.mark.usefixtures("one_thread")

ARMS = {
    "query_time": {"method": "query-time", "held_out": False, "settings": {"teachers": 4}},
    "network": {"method": "dp-sgd", "held_out": False, "settings": {"steps": 2, "batch": 16}},
}


@pytest.fixture
def answers(world, monkeypatch):
    """Run the script on some releases and return its output; `part` and `shard` choose among them."""
    monkeypatch.setattr(load_script("tabpate_answer_queries"), "load", lambda *_: Neighbour())

    def run(releases, part="0", shard=9, delta=1e-4):
        params = {"seed": 1, "delta": delta, "roles": ROLES, "shard": shard, "arms": ARMS, "releases": releases}
        call("tabpate_answer_queries", files(world), [world / "answers.nc"], part, **params)
        return read_grid(world / "answers.nc")

    return run


def test_each_repeat_answers_its_test_records_alone(answers, world):
    grid = answers([[name, 10.0, repeat] for name in ARMS for repeat in range(2)])
    assert grid.answers.shape == (4, RECORDS, 2)
    table = open_table(*(world / name for name in ("records.parquet", "schema.json", "towns.yaml", "key")))
    for one, repeat in zip(grid.answers.values, grid.repeat.values, strict=True):
        tested = table.tested(table.roles(ROLES, 1, int(repeat)))
        assert np.flatnonzero(~np.isnan(one).any(1)).tolist() == tested.tolist()
        assert np.isnan(one).all(1).sum() == RECORDS - len(tested)
    assert grid.asked.values.tolist() == grid.answered.values.tolist()
    assert "no ledger is charged" in grid.ledger


def test_a_label_at_query_time_is_one_class_alone(answers):
    found = answers([["query_time", 10.0, 0]]).answers.values[0]
    tested = found[~np.isnan(found).any(1)]
    assert (np.sort(tested, axis=1) == [-np.inf, 0]).all()


def test_a_shard_has_its_own_releases_alone(answers):
    releases = [["query_time", 10.0, 0], ["query_time", 1.0, 0], ["network", 10.0, 1]]
    last = answers(releases, part="1", shard=2)
    assert (last.arm.values.tolist(), last.epsilon.values.tolist()) == (["network"], [10.0])


def test_a_budget_that_guarantees_nothing_is_refused(answers):
    with pytest.raises(AuditError, match="budget"):
        answers([["network", 10.0, 0]], delta=0.0)
