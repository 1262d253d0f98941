"""The rule that poisons shadow sets, on a nearest neighbour that remembers: by arithmetic, in shards, and killed."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from conftest import load_script

from memaudit.common.checksums import sha256
from memaudit.common.errors import AuditError
from memaudit.common.io import read_grid, write_grid, write_json, write_table
from memaudit.data import membership_matrices
from memaudit.models.model_protocol import Limits
from memaudit.workflow.job import Paths
from memaudit.workflow.scratch import resumable

pytestmark = pytest.mark.usefixtures("one_thread")

SETS, MEMBERS, RECORDS, TARGETS = 4, 40, 60, 6
ACTIVE = {
    "targets": TARGETS, "sets": SETS, "shard": SETS, "budgets": [1, 2], "most": 4, "scanned": 0.5,
    "grouped": 6, "together": 3, "copies": [1],
}  # fmt: skip
SCRIPT = load_script("attacks_query_poisoned")


@pytest.fixture
def world(tmp_path):
    """Labels that nothing predicts; members stand in a context twice; rank 2 is a unit of two records."""
    rng = np.random.default_rng(2)
    records = pd.DataFrame(rng.normal(size=(RECORDS, 2)), columns=["age", "wage"])
    records["target"] = rng.choice(["p", "q"], RECORDS)
    records.insert(0, "id", [f"r{i:02d}" for i in range(RECORDS)])
    write_table(records, tmp_path / "records.parquet")
    columns = [{"name": name, "type": "numeric"} for name in ("age", "wage")]
    target = {"name": "y", "type": "categorical", "categories": ["p", "q"]}
    write_json({"task": "classification", "target": target, "columns": columns}, tmp_path / "schema.json")
    counts = np.zeros((SETS + 4, RECORDS), dtype=np.uint8)
    counts[:, :MEMBERS] = 2 * np.vstack([membership_matrices.balanced(n, MEMBERS, rng) for n in (SETS, 4)])
    rank = np.append(rng.permutation(MEMBERS), np.full(RECORDS - MEMBERS, -1))
    rank[rank == 3] = 2
    coordinates = {
        "record": records.id.to_numpy(str), "feature": ["age", "wage"], "rank": ("record", rank),
        "unit": ("record", records.id.to_numpy(str)), "member": ("record", np.arange(RECORDS) < MEMBERS),
        "label": ("record", (records.target == "q").astype(int)),
        "variant": ("model", ["copies 2"] * SETS + ["usual"] * 4), "set": ("model", [*range(SETS), *range(4)]),
        "anonymity": ("model", [1] * (SETS + 4)),
    }  # fmt: skip
    design = {"counts": (("model", "record"), counts)}
    design["columns"] = (("model", "feature"), np.ones((SETS + 4, 2), dtype=bool))
    write_grid(xr.Dataset(design, coordinates, {"dataset": "towns"}), tmp_path / "design.nc")
    neighbours = {"n_neighbors": 5, "weights": "distance"}
    rival = {"class": "sklearn.neighbors.KNeighborsClassifier", "params": neighbours}
    write_json(rival, tmp_path / "weights/estimator.json")
    card = {"family": "estimator", "mode": "raw", "task": "classification", "name": "rival", "options": {}}
    write_json(card | {"sha256": sha256(tmp_path / "weights")}, tmp_path / "model.json")
    return tmp_path


def job(folder, shard="0", arm="main", size=SETS, **active):
    files = {"records": "records.parquet", "schema": "schema.json", "design": "design.nc", "model": "model.json"}
    return SimpleNamespace(
        rule="attacks_query_poisoned",
        input=Paths([f"{name}={folder / file}" for name, file in files.items()]),
        output=Paths([str(folder / f"{shard}.nc")]),
        params=SimpleNamespace(seed=7, sets=SETS, active=ACTIVE | {"shard": size} | active),
        wildcards=SimpleNamespace(dataset="towns", arm=arm, shard=shard),
        **{"threads": 1, "resources": {}},
    )


def asked(folder, **options):
    task = job(folder, **options)
    facts = SCRIPT.main(task, SimpleNamespace(part=lambda name, compute: compute()))
    assert facts == {"seed": 7, "device": "cpu", "dtype": "float32"}
    return read_grid(task.output[0])


def test_a_member_stands_against_as_many_copies_as_it_has_rows(world):
    """At distance 0 only equal rows vote. Two true ones lose to three, or to two where the lower class wins a tie."""
    grid = asked(world)
    inside, copies = grid.design.values, grid.copies.values
    member = np.broadcast_to(3 - grid.label.values, inside.shape)
    assert copies[inside].tolist() == member[inside].tolist()
    assert set(copies[~inside]) == {0, 1}
    assert grid.poison_label.values.tolist() == (1 - grid.label.values).tolist()
    odds = np.exp(grid.logits.values)
    shares = np.take_along_axis(odds, grid.label.values[None, :, None, None], -1)[..., 0] / odds.sum(-1)
    np.testing.assert_allclose(shares[inside], np.tile([1, 2 / 3, 1 / 2], (inside.sum(), 1)), rtol=1e-6)
    np.testing.assert_allclose(shares[~inside][:, 1:], 0, atol=1e-7)


def test_the_grid_says_who_was_asked_and_under_which_budget(world):
    grid, design = asked(world), read_grid(world / "design.nc")
    assert grid.logits.dims == ("model", "record", "budget", "class")
    assert grid.budget.values.tolist() == [0, 1, 2]
    assert grid["rank"].values.tolist() == [0, 1, 2, 2, 4, 5], "a unit's records are targets together"
    assert (grid.sizes["model"], set(grid.variant.values)) == (SETS, {"copies 2"})
    shown = design.counts.sel(record=grid.record.values).values[:SETS] > 0
    assert np.array_equal(grid.design.values, shown)
    assert (grid.attrs["most"], grid.attrs["mode"], grid.attrs["dataset"]) == (4, "raw", "towns")


def test_a_share_of_the_searches_is_scanned_and_finds_the_same(world):
    grid = asked(world)
    scanned = grid.scanned.values >= 0
    assert scanned.mean() == pytest.approx(0.5, abs=0.2)
    assert np.array_equal(grid.scanned.values[scanned], grid.copies.values[scanned])
    assert (grid.monotone.values[scanned] == 1).all()
    assert (grid.monotone.values[~scanned] == -1).all()
    other = asked(world, arm="deployed")
    assert not np.array_equal(other.scanned, grid.scanned), "arms are scanned elsewhere"
    assert np.array_equal(other.copies, grid.copies)


def test_forward_passes_are_the_contexts_that_the_model_was_shown(world, monkeypatch):
    shown = set()

    def counted(self, context_x, context_y, query_x, logits=SCRIPT.Counted.logits):
        shown.update((x.numpy().tobytes(), y.numpy().tobytes()) for x, y in zip(context_x, context_y, strict=True))
        return logits(self, context_x, context_y, query_x)

    monkeypatch.setattr(SCRIPT.Counted, "logits", counted)
    grid = asked(world, scanned=0)
    assert grid.attrs["forward_passes"] == len(shown)
    assert (grid.scanned == -1).all()
    everything = asked(world, scanned=1)
    assert everything.attrs["forward_passes"] == 1 + SETS * (1 + 4 * TARGETS)
    assert np.array_equal(everything.passes, grid.passes), "what is asked to check costs the attacker nothing"


def test_the_grid_does_not_depend_on_its_shards(world):
    shards = [asked(world, shard=str(number), size=3) for number in range(2)]
    assert [grid.sizes["model"] for grid in shards] == [3, 1]
    whole = asked(world)
    assert sum(grid.attrs["forward_passes"] for grid in shards) == whole.attrs["forward_passes"]
    joined = xr.concat(shards, "model", data_vars="minimal", combine_attrs="drop")
    xr.testing.assert_equal(joined, whole)


def test_a_killed_job_goes_on_and_writes_the_same_grid(world, monkeypatch):
    whole, made, attacked = asked(world), [], SCRIPT.attacked

    def recorded(*arguments, dies=False):
        if dies and len(made) == 3:
            raise RuntimeError("killed")
        made.append(arguments[1])
        return attacked(*arguments)

    monkeypatch.setattr(SCRIPT, "attacked", lambda *arguments: recorded(*arguments, dies=True))
    with pytest.raises(RuntimeError, match="killed"):
        resumable(SCRIPT.main)(job(world))
    monkeypatch.setattr(SCRIPT, "attacked", recorded)
    labels, asked_again = SCRIPT.runner_up, []
    monkeypatch.setattr(SCRIPT, "runner_up", lambda *tables: asked_again.append(len(tables[1])) or labels(*tables))
    resumable(SCRIPT.main)(job(world))
    assert asked_again == [ACTIVE["grouped"]], "the targets' own labels were kept; the group's come after the kill"
    assert made == list(range(SETS))
    xr.testing.assert_identical(read_grid(world / "0.nc"), whole)


def test_a_context_that_poison_makes_too_large_is_refused_before_it_is_asked(world, monkeypatch):
    rows = int(read_grid(world / "design.nc").counts[:SETS].sum("record").max())
    limits = Limits(rows=rows + 4, features=None, classes=None)
    monkeypatch.setattr("memaudit.models.sklearn_estimators.EstimatorBranch.limits", limits)
    assert asked(world).sizes["model"] == SETS
    with pytest.raises(AuditError, match=rf"attacks/active, data set towns: {rows + 5} context rows, the model takes"):
        asked(world, budgets=[5])
