"""The evaluation of fine-tuned models, run by run, on planted probe results of a few records."""

import numpy as np
import pytest
from planted_probes import (
    CONDITIONS,
    EPOCHS,
    PLANTED,
    QUERIES,
    SPLITS,
    SUITE,
    TASKS,
    WEIGHTS,
    condition,
    in_shards,
    judge,
    planted_grids,
)
from result_rows import chosen, only

from memaudit.common import tidy
from memaudit.common.errors import AuditError
from memaudit.common.io import read_grid, read_table, write_grid


@pytest.fixture(scope="module")
def grids():
    return planted_grids()


def test_every_run_has_a_line_and_every_setting_its_results(judged):
    tasks, _ = judged
    runs = read_table(tasks["wine"]["runs"])
    assert len(runs) == len(PLANTED) * SPLITS * len(EPOCHS)
    assert not runs.duplicated(["dataset", "arm", "split", "epoch"]).any()
    assert set(runs["trained_weights"]) == {WEIGHTS}
    joint = read_table(tasks["joint"]["runs"])
    assert joint.groupby("dataset").size().to_dict() == {name: SPLITS * len(EPOCHS) for name in TASKS}
    assert set(joint["regime"]) == {"joint fixed"}
    results = tidy.expand(read_table(tasks["wine"]["results"]))
    assert not results.duplicated().any()
    auc = chosen(results, metric="auc", records="query", signal="loss", epoch=10)
    assert set(auc["arm"]) == set(PLANTED) - {"diverged"}
    assert (chosen(results, metric="diverged", arm="diverged").set_index("epoch")["estimate"] == [0.2, 1.0]).all()


def test_manipulations_that_are_not_effective_do_not_count(judged, grids):
    bases, conditions, _ = grids
    run = only(read_table(judged[0]["wine"]["runs"]), arm="idle", split=2, epoch=1)
    assert run["manipulations"] == len(SUITE) - 1
    grid, base = conditions["idle", "wine"].isel(split=2), bases["wine", "normal"].isel(split=2)
    loss = grid.signals.sel(epoch=1).values[:, :-1, 0].mean(1)
    known = dict(zip(base.id.values, base.signals.values[:, :-1, 0].mean(1), strict=True))
    delta = loss - np.array([known[record] for record in grid.id.values])
    inside, outside = (delta[grid.role.values == role] for role in ("query", "nonmember"))
    assert run["query_loss_auc"] == pytest.approx((inside[:, None] < outside).mean(), abs=1e-6)


def test_a_diverged_run_is_a_collapse_and_so_is_a_broken_one(judged):
    runs = read_table(judged[0]["wine"]["runs"])
    lost = runs[runs["diverged"]]
    assert len(lost) == SPLITS + 1
    assert (lost[["outcome_as_written", "outcome_null_calibrated"]] == "collapse").all(axis=None)
    assert lost[["query_loss_auc", "loss_p", "mu_gap", "loss_ratio"]].isna().all(axis=None)
    broken = chosen(runs, arm="broken", epoch=10)
    assert (broken["outcome_as_written"] == "collapse").all()  # although its AUC is 1
    assert (broken["query_loss_auc"] > 0.99).all()


def test_the_result_is_independent_of_shards_and_their_order(grids, judged, tmp_path):
    bases, conditions, _ = grids
    inputs = []
    for (dataset, labels), base in bases.items():
        if dataset == "wine":
            write_grid(base, tmp_path / f"{labels}.nc")
            inputs.append(f"reference={tmp_path / labels}.nc")
    for name in PLANTED:
        paths = in_shards(conditions[name, "wine"], tmp_path / name, list(range(SPLITS + 1)))
        inputs += [f"{name}={path}" for path in reversed(paths)]
    again = judge(tmp_path / "again", inputs, CONDITIONS)
    for name in ("runs", "results"):
        assert read_table(again[name]).equals(read_table(judged[0]["wine"][name]))
    assert read_grid(again["null"]).equals(read_grid(judged[0]["wine"]["null"]))


def test_runs_of_a_split_share_their_permutations_single_or_joint(grids, judged, tmp_path):
    """The same answers under another condition's name, in another order and among fewer targets, have the same null."""
    bases, conditions, _ = grids
    write_grid(bases["wine", "normal"], tmp_path / "base.nc")
    grid = conditions["idle", "wine"].isel(target=slice(None, None, -1))
    write_grid(grid.isel(target=grid.role.isel(split=0).values != "context"), tmp_path / "0.nc")
    inputs = [f"reference={tmp_path / 'base.nc'}", f"other={tmp_path / '0.nc'}"]
    null = read_grid(judge(tmp_path, inputs, {"other": condition(learning_rate=1e-4)})["null"])
    known = read_grid(judged[0]["wine"]["null"])
    known = known.isel(run=known.arm.values == "idle")
    assert np.allclose(null.permuted, known.permuted, atol=1e-7)
    assert np.allclose(null.permuted_raw, known.permuted_raw, atol=1e-7)
    assert np.allclose(null.bootstrapped, known.bootstrapped, atol=1e-7)


def test_a_negative_control_that_was_fine_tuned_on_targets_is_refused(grids, tmp_path):
    bases, conditions, _ = grids
    write_grid(bases["wine", "normal"], tmp_path / "base.nc")
    write_grid(conditions["idle", "wine"], tmp_path / "0.nc")
    inputs = [f"reference={tmp_path / 'base.nc'}", f"others={tmp_path / '0.nc'}"]
    with pytest.raises(AuditError, match="wine, split 0, epoch 1: a training pair contains a non-member"):
        judge(tmp_path, inputs, {"others": condition(placebo=True)})


def test_a_histogram_holds_all_records_of_its_setting(judged):
    results = tidy.expand(read_table(judged[0]["prices"]["results"]))
    spread = chosen(results, metric="dS share", arm="memorizer")
    assert set(spread["epoch"]) == {10}
    sums = spread.groupby("records")["estimate"].sum()
    assert sums.to_dict() == pytest.approx({"query": 1, "nonmember": 1})
    assert (chosen(spread, records="query")["n"] == QUERIES * SPLITS).all()
    means = (spread["estimate"] * spread["left"]).groupby(spread["records"]).sum()
    assert means["query"] < means["nonmember"] - 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda base, grid: (base, grid.assign_coords(id=grid.id.str.replace("wine", "beer"))), "was not queried with"),
        (lambda base, grid: (base, grid.assign(member=grid.member | True)), "a training pair contains a non-member"),
        (
            lambda base, grid: (base.assign(signals=base.signals.where(base.split > 0)), grid),
            "are missing; probe it again",
        ),
        (
            lambda base, grid: (base.assign_attrs(labels="canaries"), grid),
            "no base model was probed on wine with labels normal",
        ),
    ],
)
def test_grids_that_do_not_belong_together_are_named(grids, tmp_path, change, message):
    bases, conditions, _ = grids
    base, grid = change(bases["wine", "normal"], conditions["idle", "wine"])
    write_grid(base, tmp_path / "base.nc")
    write_grid(grid, tmp_path / "0.nc")
    with pytest.raises(AuditError, match=message):
        judge(
            tmp_path,
            [f"reference={tmp_path / 'base.nc'}", f"idle={tmp_path / '0.nc'}"],
            {"idle": CONDITIONS["idle"]},
        )


def test_an_epoch_without_members_is_left_out_with_a_message(grids, tmp_path, capsys):
    bases, conditions, _ = grids
    grid = conditions["idle", "wine"]
    write_grid(bases["wine", "normal"], tmp_path / "base.nc")
    write_grid(grid.assign(member=grid.member & (grid.epoch > 1)), tmp_path / "0.nc")
    inputs = [f"reference={tmp_path / 'base.nc'}", f"idle={tmp_path / '0.nc'}"]
    runs = read_table(judge(tmp_path, inputs, {"idle": CONDITIONS["idle"]})["runs"])
    assert set(runs["epoch"]) == {10}
    assert "split 0, epoch 1: no target was a query yet" in capsys.readouterr().out
