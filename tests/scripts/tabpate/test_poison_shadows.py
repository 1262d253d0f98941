"""Brainwash on PATE students: copies of a target, their units and shards."""

import numpy as np
import pytest
from tabpate_tables import ARMS, ROLES, Kept, attack, call, files, only, shadows

from memaudit.common.io import read_grid, write_grid
from memaudit.privacy.teacher_shards import shards_of

pytestmark = pytest.mark.usefixtures("one_thread")


def poisoned(folder, **changed):
    params = {"seed": 1, "sets": 8, "shard": 8, "delta": 1e-4, "roles": ROLES, "arms": ARMS}
    params |= {"targets": 5, "budgets": [1, 2, 4], "pairs": [["non_private", None]]}
    call("tabpate_poison_shadows", files(folder), [folder / "poisoned.nc"], **params | changed)
    return read_grid(folder / "poisoned.nc")


def test_a_member_stands_against_one_copy_and_others_against_none(world):
    """Its own vote and one copy's are equal, and the lower class wins; two copies always do."""
    grid = poisoned(world)
    inside, wrong, own = grid.design.values, grid.wrong.values, np.broadcast_to(grid.label.values, grid.design.shape)
    assert grid.budget.values.tolist() == [0, 1, 2, 4]
    assert (grid.poison_label.values == 1 - grid.label.values).all()
    assert not wrong[inside][:, 0].any()
    assert wrong[inside & (own == 0)][:, 1].mean() < 0.5
    assert wrong[inside][:, 2:].all()
    assert wrong[~inside][:, 1:].all()
    assert grid.sizes["record"] == 10, "units of two records are targets together"
    attacked = shadows(world, sets=8)
    assert np.array_equal(attacked.design.sel(record=grid.record).values[::3], inside), "the sets of the other attack"


def test_copies_are_units_of_their_own_and_leave_the_other_shards_as_they_are(world, handed):
    grid = poisoned(world, pairs=[["as_published", 1.0]], budgets=[3])
    known = [private.units for _, private, *_ in handed]
    assert len(known) == 8 * grid.sizes["record"] * 2
    without, with_copies = known[::2], known[1::2]
    for before, after in zip(without, with_copies, strict=True):
        assert after[: len(before)] == before
        assert len(set(after) - set(before)) == 3
    shards = shards_of(known[1], b"a test", 4)
    assert np.array_equal(shards[:-3], shards_of(known[0], b"a test", 4))
    assert len(set(shards_of([f"copy {i} of r00" for i in range(30)], b"a test", 4))) == 4


def test_a_killed_job_goes_on_at_the_target_where_it_was(world, handed):
    """A student's targets can take longer than a job may; its result is that of a job that was not killed."""
    pairs = [["non_private", None], ["as_published", 1.0]]
    whole = poisoned(world, pairs=pairs).load()
    releases, kept = len(handed), Kept(1 + 2 * whole.sizes["record"] + 3)
    handed.clear()
    with pytest.raises(KeyboardInterrupt):
        poisoned(world, pairs=pairs, scratch=kept)
    kept.most, first = np.inf, len(handed)
    assert poisoned(world, pairs=pairs, scratch=kept).identical(whole)
    assert 0 < first < len(handed) == releases, "no release is made twice"
    assert len(kept.parts) == 1 + 8 * 2 * whole.sizes["record"]


def test_brainwash_on_students_is_judged_with_lira(world):
    grid = poisoned(world, sets=16, shard=16)
    grid.wrong[:, 0] = False
    write_grid(grid, world / "poisoned.nc")
    shadows(world, pairs=[["non_private", None]])
    found, _ = attack(world, f"shadows={world / 'shadows.nc'}", f"poisoned={world / 'poisoned.nc'}")
    auc = only(found, attack="brainwash", metric="auc")
    assert (auc["records"], auc["arm"]) == ("targets", "non_private")
    assert auc["estimate"] > 0.8
    assert only(found, attack="brainwash", metric="censored")["estimate"] == pytest.approx(0.1)
    needless = grid.wrong.values[..., 0].mean()
    assert only(found, attack="brainwash", metric="already wrong")["estimate"] == pytest.approx(needless)
