"""Released contexts: their rows, the numbers of their queries, and the shard that they are from."""

import numpy as np
import pytest
from tabpate_tables import ARMS, ROLES, call, files

from memaudit.common.errors import AuditError
from memaudit.common.io import read_grid

pytestmark = pytest.mark.usefixtures("one_thread")


def release(folder, releases, part="0", shard=9, arms=ARMS, delta=1e-4):
    params = {"seed": 1, "delta": delta, "roles": ROLES, "shard": shard, "arms": arms, "releases": releases}
    call("tabpate_release_contexts", files(folder), [folder / "contexts.nc"], part, **params)
    return read_grid(folder / "contexts.nc")


def test_a_context_has_as_many_rows_as_queries_were_answered_and_the_rest_is_missing(world):
    fewer = ARMS["as_published"] | {"settings": {"queries": 7, "teachers": 4}}
    grid = release(world, [["as_published", 10.0, 0], ["fewer", 10.0, 0]], arms=ARMS | {"fewer": fewer})
    assert grid.x.shape == (2, 20, 2)
    assert (~np.isnan(grid.y)).sum("row").values.tolist() == grid.answered.values.tolist() == [20, 7]
    assert grid.asked.values.tolist() == [20, 7]
    assert (np.isnan(grid.x).all("feature") == np.isnan(grid.y)).all()
    assert set(np.unique(grid.y.values[~np.isnan(grid.y.values)])) <= {0, 1}
    assert np.nanmax(np.abs(grid.x.values)) <= 4, "queries lie within the public bounds"
    assert "no ledger is charged" in grid.ledger


def test_queries_are_drawn_anew_in_each_repeat_and_are_the_same_when_made_again(world):
    releases = [["as_published", 10.0, repeat] for repeat in range(2)]
    first, again = release(world, releases), release(world, releases)
    assert np.array_equal(first.x.values, again.x.values)
    assert not np.array_equal(first.x.values[0], first.x.values[1])


def test_a_shard_has_its_own_releases_alone(world):
    releases = [["as_published", 10.0, 0], ["shown", 1.0, 0], ["shown", 10.0, 1]]
    grid = release(world, releases, part="1", shard=2)
    assert (grid.arm.values.tolist(), grid.repeat.values.tolist()) == (["shown"], [1])


def test_a_budget_that_guarantees_nothing_is_refused(world):
    with pytest.raises(AuditError, match="budget"):
        release(world, [["as_published", 10.0, 0]], delta=0.0)
