"""The judgement of fine-tuned models from end to end, on planted signals of a few records."""

import runpy
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
import xarray as xr

from memaudit import tidy
from memaudit.errors import AuditError
from memaudit.io import read_grid, read_table, write_grid
from memaudit.studies.iclmem.run_outcomes import OUTCOMES
from memaudit.studies.iclmem.setting_results import KEYS
from memaudit.workflow.digest import script_of
from memaudit.workflow.job import Paths

SIGNALS = ["loss", "entropy", "confidence", "error"]
SUITE = {"plain": "baseline", "first": "positional shuffling", "true_2": "skew true target", "three": "skew incorrect"}
QUERIES, CONTEXT, SPLITS, EPOCHS = 16, 6, 5, [1, 10]
PAIR = [*range(QUERIES), *range(QUERIES), *[-1] * CONTEXT]
ROLES = ["query"] * QUERIES + ["nonmember"] * QUERIES + ["context"] * CONTEXT
TASKS = {"wine": ("classification", 3, 3, 3), "prices": ("regression", 0, 40, 250)}
BASE = {"model": "small", "context": CONTEXT, "pairs": "fixed", "joint": False, "adapter": None, "private": None}
BASE |= {"placebo": False}
ASKED = {
    "fpr": [0.1], "replicates": 30, "permutations": 199, "bins": 6,
    "rules": {"as_written": {"auc": 0.5}, "as_tabulated": {"auc": 0.55}},
}  # fmt: skip
PRINTED = [{"table": "Table 1", "dataset": "wine", "printed": {"auc": 0.61, "tpr@0.1": 0.18}}]
# name: how far a member's loss falls by epoch 10, what the vanilla loss is multiplied by, learning rate, labels
PLANTED = {
    "memorizer": (3.0, 1.0, 1e-3, "normal"),
    "memorizer_shuffled": (0.0, 1.0, 1e-3, "shuffled_members"),
    "idle": (0.0, 1.0, 1e-4, "normal"),
    "broken": (3.0, 9.0, 1e-1, "normal"),
    "diverged": (0.0, 1.0, 1.0, "normal"),
    "others": (0.0, 1.0, 1e-3, "normal"),
}


def arm(labels="normal", learning_rate=1e-3, **more):
    return {**BASE, "learning_rate": learning_rate, "queries": QUERIES, "labels": labels, "epochs": EPOCHS} | more


ARMS = {name: arm(labels, rate, placebo=name == "others") for name, (_, _, rate, labels) in PLANTED.items()}


def answers(loss, rng):
    """Signals (..., 4) of losses (...): the entropy follows them, confidence and error are functions of them."""
    entropy = 0.5 * loss + 0.2 * rng.normal(size=loss.shape)
    return np.stack([loss, entropy, np.exp(-loss), (loss > 2.5).astype(float)], axis=-1).astype(np.float32)


def reference(dataset, labels, rng):
    """(split, target, manipulation, signal), the last manipulation not effective; the same difficulty in all."""
    task, classes, candidates, cardinality = TASKS[dataset]
    difficulty = 1 + rng.random((SPLITS, len(ROLES), 1))
    signals = answers(difficulty + 0.1 * rng.random((SPLITS, len(ROLES), len(SUITE))), rng)
    signals[:, :, -1] = np.nan
    ids = [[f"{dataset}{split}{place:03}" for place in range(len(ROLES))] for split in range(SPLITS)]
    return xr.Dataset(
        {"signals": (("split", "target", "manipulation", "signal"), signals)},
        {
            "split": np.arange(SPLITS), "id": (("split", "target"), ids), "manipulation": list(SUITE),
            "role": (("split", "target"), [ROLES] * SPLITS),
            "pair": (("split", "target"), [PAIR] * SPLITS), "category": ("manipulation", list(SUITE.values())),
        },
        {
            "dataset": dataset, "labels": labels, "task": task, "classes": classes, "candidates": candidates,
            "majority": 0.4, "records": 400, "cardinality": cardinality,
        },
    )  # fmt: skip


def tuned(base, planted, rng):
    """An arm on one data set: (split, epoch, target, manipulation, signal); members' losses fall with the epochs."""
    fall, factor, _, _ = planted
    sizes, member = (SPLITS, len(EPOCHS), len(ROLES), len(SUITE)), np.array(ROLES) == "query"
    loss = np.nan_to_num(base.signals.values[:, None, ..., 0], nan=1.0) + 0.3 * rng.normal(size=sizes)
    # What all models of a split have in common: records that any fine-tuning makes harder.
    loss += 0.3 * rng.normal(size=(SPLITS, 1, len(ROLES), 1))
    loss -= fall * np.where(np.array(EPOCHS) == 10, 1.0, 0.0)[:, None, None] * member[:, None]
    usual = 1 + rng.random((SPLITS, 1, len(ROLES)))
    vanilla = answers(np.concatenate([usual, usual * factor, usual * factor], axis=1), rng)
    asked = np.broadcast_to(member, sizes[:3])
    grid = xr.Dataset(
        {
            "signals": (("split", "epoch", "target", "manipulation", "signal"), answers(loss, rng)),
            "vanilla": (("split", "stage", "target", "signal"), vanilla),
            "taught": (("split", "stage", "target", "signal"), vanilla),
            "member": (("split", "epoch", "target"), asked),
            "shown": (("split", "epoch", "target"), np.broadcast_to(np.array(ROLES) == "context", sizes[:3])),
            "diverged_at": ("split", [-1] * SPLITS),
        },
        {
            "split": base.split, "epoch": EPOCHS, "stage": [0, *EPOCHS], "id": base.id, "role": base.role,
            "manipulation": list(SUITE), "dataset": ("target", [base.dataset] * len(ROLES)),
        },
    )  # fmt: skip
    # An arm need not ask in the order of the base.
    return grid.isel(target=rng.permutation(len(ROLES)))


def without_end(grid):
    """The same, diverged after epoch 1 in all splits and before it in the first."""
    late = grid.epoch > 1
    first = (grid.split == 0) & (grid.epoch >= 1)
    stages = (grid.stage > 1) | ((grid.split == 0) & (grid.stage >= 1))
    lost = {"signals": grid.signals.where(~(late | first))}
    lost |= {name: grid[name].where(~stages) for name in ("vanilla", "taught")}
    return grid.assign(**lost, diverged_at=("split", [1, *[10] * (SPLITS - 1)]))


def without_members(grid):
    """The same, fine-tuned on records that are no targets."""
    return grid.assign(member=xr.zeros_like(grid.member))


def in_shards(grid, path, bounds):
    names = []
    for start, stop in pairwise(bounds):
        names.append(f"{path}{start}.nc")
        write_grid(grid.isel(split=slice(start, stop)), names[-1])
    return names


def call(project, name, inputs, outputs, **params):
    main = runpy.run_path(str(script_of(name)))["main"]
    job = {"input": Paths(inputs), "output": Paths(outputs), "params": SimpleNamespace(seed=1, **params)}
    return main(SimpleNamespace(**job))


def judge(project, folder, inputs, arms):
    outputs = {"runs": folder / "runs.parquet", "results": folder / "results.parquet", "null": folder / "null.nc"}
    folder.mkdir(exist_ok=True)
    named = [f"{key}={path}" for key, path in outputs.items()]
    call(project, "iclmem_judge_runs", inputs, named, arms=arms, iclmem=ASKED)
    return outputs


@pytest.fixture(scope="module")
def grids():
    """Reference grids by (data set, labels), and those of every arm; `joint` is one model for both data sets."""
    rng = np.random.default_rng(0)
    bases = {
        (name, labels): reference(name, labels, rng) for name in TASKS for labels in ("normal", "shuffled_members")
    }
    arms = {
        (name, dataset): tuned(bases[dataset, planted[-1]], planted, rng)
        for name, planted in PLANTED.items()
        for dataset in TASKS
    }
    arms |= {("diverged", dataset): without_end(arms["diverged", dataset]) for dataset in TASKS}
    arms |= {("others", dataset): without_members(arms["others", dataset]) for dataset in TASKS}
    both = [tuned(bases[dataset, "normal"], PLANTED["memorizer"], rng) for dataset in TASKS]
    return bases, arms, xr.concat(both, "target", data_vars="minimal", combine_attrs="drop")


@pytest.fixture(scope="module")
def judged(project, grids, tmp_path_factory):
    """Outputs of the two tasks of one data set and of the joint one, and what is decided about them together."""
    folder = tmp_path_factory.mktemp("iclmem")
    bases, arms, joint = grids
    paths = {}
    for (dataset, labels), base in bases.items():
        paths[dataset, labels] = folder / f"{dataset}-{labels}.nc"
        write_grid(base, paths[dataset, labels])
    tasks = {}
    for dataset in TASKS:
        inputs = [f"reference={path}" for (name, _), path in paths.items() if name == dataset]
        for name in PLANTED:
            inputs += [
                f"{name}={path}" for path in in_shards(arms[name, dataset], folder / f"{dataset}-{name}", [0, 2, 5])
            ]
        tasks[dataset] = judge(project, folder / dataset, inputs, ARMS)
    inputs = [f"reference={paths[dataset, 'normal']}" for dataset in TASKS]
    inputs += [f"together={path}" for path in in_shards(joint, folder / "joint", [0, 5])]
    tasks["joint"] = judge(project, folder / "joint", inputs, {"together": arm(joint=True)})
    inputs = [f"{name}={task[name]}" for task in tasks.values() for name in ("runs", "null")]
    call(
        project,
        "iclmem_decide_outcomes",
        inputs,
        [f"tidy={folder / 'outcomes.parquet'}"],
        iclmem=ASKED,
        published=PRINTED,
    )
    return tasks, tidy.expand(read_table(folder / "outcomes.parquet"))


def chosen(table, **keys):
    for key, value in keys.items():
        table = table[table[key] == value]
    return table


def only(table, **keys):
    found = chosen(table, **keys)
    assert len(found) == 1, (keys, len(found))
    return found.iloc[0]


def test_every_run_has_a_line_and_every_setting_its_results(judged):
    tasks, _ = judged
    runs = read_table(tasks["wine"]["runs"])
    assert len(runs) == len(PLANTED) * SPLITS * len(EPOCHS)
    assert not runs.duplicated(["dataset", "arm", "split", "epoch"]).any()
    joint = read_table(tasks["joint"]["runs"])
    assert joint.groupby("dataset").size().to_dict() == {name: SPLITS * len(EPOCHS) for name in TASKS}
    assert set(joint["regime"]) == {"joint fixed"}
    results = tidy.expand(read_table(tasks["wine"]["results"]))
    assert not results.duplicated().any()
    auc = chosen(results, metric="auc", records="query", signal="loss", epoch=10)
    assert set(auc["arm"]) == set(PLANTED) - {"diverged"}
    assert (chosen(results, metric="diverged", arm="diverged").set_index("epoch")["estimate"] == [0.2, 1.0]).all()


def test_manipulations_that_are_not_effective_do_not_count(judged, grids):
    bases, arms, _ = grids
    run = only(read_table(judged[0]["wine"]["runs"]), arm="idle", split=2, epoch=1)
    assert run["manipulations"] == len(SUITE) - 1
    grid, base = arms["idle", "wine"].isel(split=2), bases["wine", "normal"].isel(split=2)
    loss = grid.signals.sel(epoch=1).values[:, :-1, 0].mean(1)
    known = dict(zip(base.id.values, base.signals.values[:, :-1, 0].mean(1), strict=True))
    delta = loss - np.array([known[record] for record in grid.id.values])
    inside, outside = (delta[grid.role.values == role] for role in ("query", "nonmember"))
    assert run["query_loss_auc"] == pytest.approx((inside[:, None] < outside).mean(), abs=1e-6)


def test_the_memorizer_is_detected_and_the_idle_arm_is_not(judged):
    tasks, outcomes = judged
    runs = read_table(tasks["prices"]["runs"])
    late = chosen(runs, arm="memorizer", epoch=10)
    assert (late["query_loss_auc"] > 0.99).all()
    assert (late[["outcome_as_written", "outcome_as_tabulated", "outcome_null_calibrated"]] == "detectable").all(
        axis=None
    )
    assert (late["loss_p"] == 1 / 200).all()
    decided = chosen(outcomes, metric="auc detected", signal="loss", dataset="prices", epoch=10).set_index("arm")[
        "estimate"
    ]
    assert decided[["memorizer", "together", "idle", "memorizer_shuffled"]].tolist() == [1, 1, 0, 0]
    assert "diverged" not in decided
    assert (late["context_loss_auc"] - 0.5).abs().mean() < 0.2  # context rows are a group of their own, and not planted


def test_a_diverged_run_is_a_collapse_and_so_is_a_broken_one(judged):
    runs = read_table(judged[0]["wine"]["runs"])
    lost = runs[runs["diverged"]]
    assert len(lost) == SPLITS + 1
    assert (lost[["outcome_as_written", "outcome_null_calibrated"]] == "collapse").all(axis=None)
    assert lost[["query_loss_auc", "loss_p", "mu_gap", "loss_ratio"]].isna().all(axis=None)
    broken = chosen(runs, arm="broken", epoch=10)
    assert (broken["outcome_as_written"] == "collapse").all()  # although its AUC is 1
    assert (broken["query_loss_auc"] > 0.99).all()


def test_the_result_is_independent_of_shards_and_their_order(project, grids, judged, tmp_path):
    bases, arms, _ = grids
    inputs = []
    for (dataset, labels), base in bases.items():
        if dataset == "wine":
            write_grid(base, tmp_path / f"{labels}.nc")
            inputs.append(f"reference={tmp_path / labels}.nc")
    for name in PLANTED:
        paths = in_shards(arms[name, "wine"], tmp_path / name, list(range(SPLITS + 1)))
        inputs += [f"{name}={path}" for path in reversed(paths)]
    again = judge(project, tmp_path / "again", inputs, ARMS)
    for name in ("runs", "results"):
        assert read_table(again[name]).equals(read_table(judged[0]["wine"][name]))
    assert read_grid(again["null"]).equals(read_grid(judged[0]["wine"]["null"]))


def test_runs_of_a_split_share_their_permutations_single_or_joint(project, grids, judged, tmp_path):
    """The same answers under another arm's name, in another order and among fewer targets, have the same null."""
    bases, arms, _ = grids
    write_grid(bases["wine", "normal"], tmp_path / "base.nc")
    grid = arms["idle", "wine"].isel(target=slice(None, None, -1))
    write_grid(grid.isel(target=grid.role.isel(split=0).values != "context"), tmp_path / "0.nc")
    inputs = [f"reference={tmp_path / 'base.nc'}", f"other={tmp_path / '0.nc'}"]
    null = read_grid(judge(project, tmp_path, inputs, {"other": arm(learning_rate=1e-4)})["null"])
    known = read_grid(judged[0]["wine"]["null"])
    known = known.isel(run=known.arm.values == "idle")
    assert np.allclose(null.permuted, known.permuted, atol=1e-7)
    assert np.allclose(null.permuted_raw, known.permuted_raw, atol=1e-7)
    assert np.allclose(null.bootstrapped, known.bootstrapped, atol=1e-7)


def test_shares_of_outcomes_add_up_and_survival_counts_the_memorizer(judged):
    _, outcomes = judged
    pooled = chosen(outcomes, metric="outcome share", by="queries", regime="single fixed")
    sums = pooled.groupby("rule")["estimate"].sum()
    assert sums.to_dict() == pytest.approx({"as_written": 1, "as_tabulated": 1, "null_calibrated": 1})
    assert set(pooled["outcome"]) == set(OUTCOMES)
    outcomes = chosen(outcomes, labels="all")
    detections = only(outcomes, metric="detections", rule="null_calibrated", of="run")["estimate"]
    survivors = only(outcomes, metric="surviving share", rule="null_calibrated", check="p-value")
    assert detections >= 2 * 2 * SPLITS  # memorizer and joint arm at epoch 10, of both data sets
    assert survivors["estimate"] == 1
    written = only(outcomes, metric="surviving share", rule="as_written", of="run", check="setting on loss")
    assert 0.3 < written["estimate"] < 0.9
    settings = only(outcomes, metric="surviving share", rule="as_written", of="setting", check="setting on loss")
    assert settings["estimate"] * settings["n"] == 4


def test_the_signal_weakens_where_shuffled_labels_have_none(judged):
    _, outcomes = judged
    effect = only(outcomes, metric="auc difference", dataset="wine", epoch=10, signal="loss")
    assert effect["arm"] == "memorizer"
    assert effect["labels"] == "normal - shuffled_members"
    assert effect["low"] > 0.2
    early = only(outcomes, metric="auc difference", dataset="wine", epoch=1, signal="loss")
    assert early["low"] < 0 < early["high"]


def test_arms_fine_tuned_on_others_are_placebos_and_permutations_are_flagged_by_the_published_criterion(judged):
    _, outcomes = judged
    rate = chosen(outcomes, metric="placebo rate", of="permutation", regime="single fixed")
    assert set(rate["rule"]) == {"as_written", "as_tabulated"}
    assert (rate["estimate"] > 0.4).all()
    placebo = chosen(outcomes, metric="placebo rate", of="run", stage="criterion", regime="single fixed placebo")
    ours = only(placebo, rule="null_calibrated", signal="larger")
    assert ours["n"] == 2 * SPLITS * len(EPOCHS)
    assert ours["estimate"] < 0.25
    assert (placebo["null"] == 0.05).all()
    assert only(outcomes, metric="placebo rate", of="setting", signal="loss")["estimate"] < 0.5
    pooled = outcomes[outcomes["metric"] != "placebo rate"]
    assert not pooled["regime"].astype(str).str.contains("placebo").any(), "placebos are in no other result"


def test_a_placebo_arm_that_was_fine_tuned_on_targets_is_refused(project, grids, tmp_path):
    bases, arms, _ = grids
    write_grid(bases["wine", "normal"], tmp_path / "base.nc")
    write_grid(arms["idle", "wine"], tmp_path / "0.nc")
    inputs = [f"reference={tmp_path / 'base.nc'}", f"others={tmp_path / '0.nc'}"]
    with pytest.raises(AuditError, match="wine, split 0, epoch 1: a pair held a non-member"):
        judge(project, tmp_path, inputs, {"others": arm(placebo=True)})


def test_the_peak_of_an_arm_is_its_late_epoch_and_says_what_twins_have(judged):
    _, outcomes = judged
    peak = chosen(outcomes, peak="arm", dataset="wine", arm="memorizer", regime="single fixed")
    assert set(peak["epoch"]) == {10}
    assert set(peak["outcome"]) == {"detectable"}
    assert only(peak, metric="auc normal")["estimate"] > 0.99
    assert only(peak, metric="auc shuffled_members")["estimate"] < 0.8
    assert only(peak, metric="auc max-T p-value")["estimate"] == pytest.approx(1 / 200)
    best = chosen(outcomes, peak="regime", dataset="wine", regime="single fixed", metric="auc")
    assert best["arm"].tolist() == ["memorizer"]  # not the broken arm, although that has the same AUC


def test_the_rows_have_keys_of_their_own(judged):
    _, outcomes = judged
    keys = [column for column in outcomes if column not in tidy.COLUMNS or column in ("metric", "unit")]
    twice = outcomes.duplicated(keys, keep=False)
    assert not twice.any(), outcomes[twice][keys].dropna(axis=1, how="all").head()
    assert set(KEYS) <= set(outcomes)
    effect = only(outcomes, metric="auc effect", runs="all", signal="loss", category="baseline")
    assert effect["estimate"] == 0


def test_what_the_paper_prints_stands_in_lines_of_its_own(judged):
    _, outcomes = judged
    printed = chosen(outcomes, source="paper", dataset="wine").set_index("metric")
    assert printed["estimate"].to_dict() == {"auc": 0.61, "tpr@0.1": 0.18}
    assert set(printed["table"]) == {"Table 1"}


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
        (lambda base, grid: (base, grid.assign_coords(id=grid.id.str.replace("wine", "beer"))), "was not asked about"),
        (lambda base, grid: (base, grid.assign(member=grid.member | True)), "a pair held a non-member"),
        (
            lambda base, grid: (base.assign(signals=base.signals.where(base.split > 0)), grid),
            "are missing; probe it anew",
        ),
        (lambda base, grid: (base.assign_attrs(labels="canaries"), grid), "no base answered wine with labels normal"),
    ],
)
def test_grids_that_do_not_belong_together_are_named(project, grids, tmp_path, change, message):
    bases, arms, _ = grids
    base, grid = change(bases["wine", "normal"], arms["idle", "wine"])
    write_grid(base, tmp_path / "base.nc")
    write_grid(grid, tmp_path / "0.nc")
    with pytest.raises(AuditError, match=message):
        judge(
            project,
            tmp_path,
            [f"reference={tmp_path / 'base.nc'}", f"idle={tmp_path / '0.nc'}"],
            {"idle": ARMS["idle"]},
        )


def test_a_run_that_asked_no_target_yet_is_left_out_and_said(project, grids, tmp_path, capsys):
    bases, arms, _ = grids
    grid = arms["idle", "wine"]
    write_grid(bases["wine", "normal"], tmp_path / "base.nc")
    write_grid(grid.assign(member=grid.member & (grid.epoch > 1)), tmp_path / "0.nc")
    inputs = [f"reference={tmp_path / 'base.nc'}", f"idle={tmp_path / '0.nc'}"]
    runs = read_table(judge(project, tmp_path, inputs, {"idle": ARMS["idle"]})["runs"])
    assert set(runs["epoch"]) == {10}
    assert "split 0, epoch 1: no target was asked as a query yet" in capsys.readouterr().out
