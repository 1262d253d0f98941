"""LiRA on PATE students of shadow contexts: a leak without privacy, none with it."""

import numpy as np
import pytest
from tabpate_tables import attack, only, shadows

from memaudit.common.errors import AuditError
from memaudit.common.io import read_grid, write_grid
from memaudit.privacy.tabpate_release import Released

pytestmark = pytest.mark.usefixtures("one_thread")


def test_a_model_that_remembers_leaks_and_its_private_students_do_not(world):
    """At distance 0 a neighbour has all votes: who is in the context is right about itself, else a coin is."""
    found, roc = attack(world, *(f"shadows={halved(shadows(world), world, i)}" for i in (1, 0)))
    auc = found[(found["metric"] == "auc") & (found["attack"] == "lira")]
    leak = only(auc, arm="non_private", records="members")
    assert leak["estimate"] > 0.95
    assert leak["epsilon"] == np.inf
    for arm in ("as_published", "shown"):
        private = only(auc, arm=arm, records="members")
        # The noise has no seed: five deviations of 0.035.
        assert private["estimate"] == pytest.approx(0.5, abs=0.17)
        gap = only(found, arm=f"{arm} - non_private", records="members", metric="auc difference")
        assert gap["estimate"] == pytest.approx(private["estimate"] - leak["estimate"])
        assert gap["high"] < -0.2
        assert only(found, arm=arm, metric="epsilon lower bound")["estimate"] < 1
    assert (
        only(found, arm="non_private", metric="epsilon lower bound")["estimate"] > 1.4
    )  # no more than that of 16 models
    placebo = auc[auc["records"] == "placebo"]
    assert len(placebo) == 3
    assert (placebo["estimate"] - 0.5).abs().max() < 0.2
    assert (placebo["n"] == 16 * (~read_grid(world / "shadows.nc").member.values).sum()).all()
    assert set(zip(roc["arm"], roc["epsilon"], roc["records"], strict=True)) == {
        ("non_private", np.inf, "members"), ("as_published", 1, "members"), ("shown", 1, "members"),
    }  # fmt: skip
    assert len(roc) == 3 * 31


def test_a_student_that_rests_on_no_record_is_a_coin(world, monkeypatch):
    rng = np.random.default_rng(0)
    context = rng.uniform(-4, 4, (20, 2)).astype(np.float32), np.arange(20) % 2
    monkeypatch.setattr("memaudit.studies.tabpate.shadow_students.released", lambda *_: Released(*context, 20, 20, {}))
    shadows(world, pairs=[["as_published", 1.0]])
    found, _ = attack(world, f"shadows={world / 'shadows.nc'}")
    assert only(found, metric="auc", records="members")["estimate"] == 0.5
    assert only(found, metric="tpr@0.1", records="members")["estimate"] == pytest.approx(0.1)
    assert only(found, metric="epsilon lower bound")["estimate"] == 0
    counted = only(found, metric="constant shadow students")
    assert (counted["estimate"], counted["n"]) == (0, 16)


def test_students_that_answer_alike_are_counted(world):
    grid = shadows(world)
    chosen = (grid.arm.values == "as_published") & (grid["set"].values < 5)
    logits = np.where(chosen[:, None, None], np.array([1.0, 0.0]), grid.logits.values)
    write_grid(grid.assign(logits=(grid.logits.dims, logits)), world / "alike.nc")
    found, _ = attack(world, f"shadows={world / 'alike.nc'}")
    counted = found[found["metric"] == "constant shadow students"].set_index("arm")
    assert counted.loc["as_published", ["estimate", "n"]].tolist() == [5, 16]
    assert counted.loc["non_private", "estimate"] == 0


def halved(grid, folder, part):
    path = folder / f"half-{part}.nc"
    write_grid(grid.isel(release=slice(part * 24, (part + 1) * 24)), path)
    return path


def test_sets_that_are_missing_are_named(world):
    grid = shadows(world)
    write_grid(grid.isel(release=np.arange(grid.sizes["release"]) != 4), world / "short.nc")
    with pytest.raises(AuditError, match="condition as_published, epsilon 1: 15 of 16 shadow contexts"):
        attack(world, f"shadows={world / 'short.nc'}")
