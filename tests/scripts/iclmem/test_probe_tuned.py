"""Scripts of the study of memorization on a tiny table: who is a member, with which label, and what survives a kill."""

import json
from dataclasses import replace
from functools import cache
from itertools import count
from types import SimpleNamespace
from zipfile import ZipFile

import numpy as np
import pandas as pd
import pytest
import torch
import xarray as xr
from conftest import PROJECT, load, load_script
from pydantic import ValidationError
from sklearn.datasets import load_wine

from memaudit import seeds
from memaudit.attacks.context_manipulations import parsed
from memaudit.checksums import sha256
from memaudit.config.iclmem_section import Iclmem, iclmem_faults
from memaudit.config.schema import Dataset, Model
from memaudit.data.matched_splits import Sizes, add_labels, draw_split
from memaudit.errors import AuditError
from memaudit.io import read_grid, read_json, read_table, write_json, write_table
from memaudit.models import model_folder as opened
from memaudit.models.fine_tuning import Run
from memaudit.models.predictive_distributions import Binned
from memaudit.studies.iclmem import probe_inputs
from memaudit.studies.iclmem.probe_inputs import Prober, Split
from memaudit.workflow.job import Paths

pytestmark = pytest.mark.usefixtures("one_thread")

SIZES = Sizes([8], [12])
SUITE = [
    {"name": "baseline", "category": "baseline", "steps": []},
    {"name": "skewed", "category": "skew_true_target", "steps": [{"skew_true": 2}, {"noise": 1}]},
    {"name": "again", "category": "two_way_combinations", "steps": []},
]
ARM = {"model": "small", "learning_rate": 1e-3, "queries": 8, "context": 12, "labels": "normal", "epochs": [1, 2]}
ARM |= {"pairs": "fixed", "joint": False, "adapter": None, "private": None, "placebo": False}
PROBE = {"seed": 3, "splits": 1, "queries": None, "context": 4, "candidates": 3, "replicates": 1, "free_text": "refuse"}
PROBE |= {"manipulations": SUITE, "splits_per_job": 2, "keep_checkpoints": False}


@pytest.fixture(scope="session")
def world(tmp_path_factory):
    """Two tables of wines, `wine` and `beer`, their splits, and the shipped classifier as a model folder."""
    folder = tmp_path_factory.mktemp("world")
    x, y = load_wine(return_X_y=True, as_frame=True)
    columns = [{"name": name, "type": "numeric"} for name in x.columns]
    target = {"name": "target", "type": "categorical", "categories": ["a", "b", "c"]}
    for at, dataset in enumerate(("wine", "beer")):
        records = x.assign(target=np.array(list("abc"))[y]).sample(90, random_state=at, ignore_index=True)
        records.insert(0, "id", [f"{dataset}{i:02d}" for i in range(90)])
        write_table(records, folder / f"{dataset}.records")
        write_json({"task": "classification", "columns": columns, "target": target}, folder / f"{dataset}.schema")
        splits = []
        for number in range(2):
            rng = seeds.generator(0, dataset, number)
            split = add_labels(draw_split(records, SIZES, rng), records.target, SIZES, rng)
            splits.append(split.assign(split=number))
        write_table(pd.concat(splits), folder / f"{dataset}.splits")
    weights = folder / "model/weights"
    weights.mkdir(parents=True)
    (weights / "small.ckpt").symlink_to(PROJECT / "resources/tabicl-small/tabicl-small.ckpt")
    card = {"family": "tabicl", "mode": "raw", "task": "classification", "version": None, "options": {"clip": 6.0}}
    write_json(card | {"sha256": sha256(weights)}, folder / "model/model.json")
    return folder


def call(world, output, name="tuned", datasets=("wine",), shard="0", arm=None, **params):
    """Run a script as a job; its grid. Of a reference, arm has the labels alone."""
    arm = ARM | (arm or {})
    parts = [f"{kind}={world}/{dataset}.{kind}" for kind in ("records", "schema", "splits") for dataset in datasets]
    inputs = [*parts, f"model={world}/model/model.json"]
    if name == "tuned" and arm["labels"] == "canaries":
        inputs += [f"canaries={output.parent}/canaries.nc"]
    names = {"task": "joint" if len(datasets) > 1 else datasets[0], "arm": "slow", "shard": shard}
    if name == "reference":
        names = {"dataset": datasets[0], "labels": arm["labels"]}
    params = PROBE | {"datasets": list(datasets), "arm": arm} | params
    if name == "reference":
        params["queries"] = params["queries"] or 8
    script = load_script(f"iclmem_probe_{name}")
    outputs = [output, output.with_suffix(".zip")] if params["keep_checkpoints"] else [output]
    job = {"input": Paths(inputs), "output": Paths(list(map(str, outputs))), "threads": 1, "resources": {}, "log": []}
    job |= {"params": SimpleNamespace(**params), "wildcards": SimpleNamespace(**names), "rule": f"iclmem_probe_{name}"}
    script.resumable(script.main)(SimpleNamespace(**job))
    return read_grid(output)


@pytest.fixture(scope="session")
def reference(world, tmp_path_factory):
    return call(world, tmp_path_factory.mktemp("reference") / "normal.nc", "reference", splits=2)


@pytest.fixture(scope="session")
def tuned(world, tmp_path_factory):
    return call(world, tmp_path_factory.mktemp("tuned") / "0.nc", splits=2)


def same(first, second, names=("signals", "vanilla", "member", "shown", "label", "id", "diverged_at")):
    for name in names:
        np.testing.assert_array_equal(first[name].values, second[name].values, err_msg=name)


def test_a_model_that_learns_nothing_says_what_the_base_model_said(world, reference, tmp_path):
    grid = call(world, tmp_path / "0.nc", arm={"learning_rate": 0.0})
    for epoch in (1, 2):
        np.testing.assert_array_equal(grid.signals.sel(epoch=epoch).values, reference.signals.values[:1])
        np.testing.assert_array_equal(grid.vanilla.sel(stage=epoch).values, grid.vanilla.sel(stage=0).values)
    same(grid, reference.isel(split=[0]), ("id", "role", "label", "manipulation", "category", "signal"))
    assert np.isfinite(reference.signals.values[:, :, :2]).all()
    assert np.isnan(reference.signals.values[:, :, 2]).all()  # what repeats another is not asked


def test_a_model_that_learns_says_something_else_and_a_shorter_arm_the_same_of_its_targets(
    world, reference, tuned, tmp_path
):
    change = np.abs(tuned.signals.values - reference.signals.values[:, None])[..., :2, 0].mean((0, 2, 3))
    assert (change > 1e-4).all()
    few = call(world, tmp_path / "few.nc", "reference", queries=3, context=2).isel(split=0)
    place = {record: i for i, record in enumerate(reference.id.values[0])}
    assert few.role.values.tolist() == ["query"] * 3 + ["nonmember"] * 3 + ["context"] * 2
    others = reference.isel(split=0, target=[place[record] for record in few.id.values])
    assert few.label.values.tolist() == others.label.values.tolist()
    np.testing.assert_allclose(few.signals.values, others.signals.values, rtol=1e-4, atol=1e-5)


def test_members_are_the_queries_of_the_log_and_nobody_else(tuned):
    assert (tuned.member.values == (tuned.role.values == "query")[:, None]).all()
    assert (tuned.shown.values == (tuned.role.values == "context")[:, None]).all()
    assert tuned.role.values[0].tolist() == ["query"] * 8 + ["nonmember"] * 8 + ["context"] * 4


def test_a_record_that_was_never_asked_is_no_member_whatever_its_role(world, tmp_path, monkeypatch):
    log = Run.log
    monkeypatch.setattr(Run, "log", lambda run: [entry | {"query": [entry["query"][0][1:]]} for entry in log(run)])
    grid = call(world, tmp_path / "0.nc")
    assert grid.member.sum(("epoch", "target")).values.tolist() == [14]


def test_random_pairs_make_members_epoch_by_epoch(world, tmp_path):
    grid = call(world, tmp_path / "0.nc", context=12, arm={"pairs": "random", "epochs": [1, 2, 3]})
    member, shown = grid.member.values, grid.shown.values
    outside = grid.role.values == "nonmember"
    assert not (member | shown)[outside[:, None].repeat(3, 1)].any()
    # Queries and context rows are all among the targets: 8 of 20 are asked in a step, 12 are shown.
    assert member[0, 0].sum() == 8
    assert shown[0, 0].sum() == 12
    assert not (member & shown)[0, 0].any()
    assert (np.diff(member[0].astype(int), axis=0) >= 0).all()
    assert (member[:, 2].sum(1) > 8).all()


def test_nothing_depends_on_the_shard(world, tuned, tmp_path):
    shards = [call(world, tmp_path / f"{shard}.nc", shard=str(shard), splits=2, splits_per_job=1) for shard in range(2)]
    assert [shard.split.values.tolist() for shard in shards] == [[0], [1]]
    same(
        tuned, xr.concat(shards, "split", data_vars="all", coords="minimal", compat="override"), ("signals", "vanilla")
    )
    assert [list(shard.id.values[0]) for shard in shards] == [list(ids) for ids in tuned.id.values]


def test_a_killed_run_goes_on_from_its_state_with_the_same_bits(world, tmp_path, monkeypatch):
    arm = {"epochs": [2, 11]}
    undisturbed = call(world, tmp_path / "undisturbed" / "0.nc", arm=arm)
    probe, calls = Prober.probe, count()

    def killed(*arguments):
        if next(calls) == 1:  # at epoch 11; the state is that of epoch 10
            raise KeyboardInterrupt
        return probe(*arguments)

    monkeypatch.setattr(Prober, "probe", killed)
    with pytest.raises(KeyboardInterrupt):
        call(world, tmp_path / "0.nc", arm=arm)
    advanced, advance = [], Run.advance
    monkeypatch.setattr(Run, "advance", lambda run: advanced.append(1) or advance(run))
    resumed = call(world, tmp_path / "0.nc", arm=arm)
    assert len(advanced) == 1
    same(undisturbed, resumed)
    assert next(calls) == 3  # what was said before the kill is not asked again


def test_a_learning_rate_without_bound_is_recorded_as_divergence_and_answers_are_nan(world, tmp_path):
    grid = call(world, tmp_path / "0.nc", arm={"learning_rate": float("inf")})
    assert (grid.diverged_at.values == 1).all()
    assert np.isnan(grid.signals.values).all()
    assert np.isnan(grid.vanilla.values[:, 1:]).all()
    assert np.isfinite(grid.vanilla.values[:, 0]).all()
    assert (grid.member.values == (grid.role.values == "query")[:, None]).all()


def test_a_run_that_stops_between_two_probed_epochs_keeps_what_it_had_said(world, tuned, tmp_path, monkeypatch):
    steps, step = count(), Run.step
    monkeypatch.setattr(Run, "step", lambda run, *batch: None if next(steps) == 2 else step(run, *batch))
    grid = call(world, tmp_path / "0.nc", arm={"epochs": [1, 2, 5]})
    assert grid.diverged_at.values.tolist() == [3]
    np.testing.assert_array_equal(grid.signals.values[:, :2], tuned.signals.values[:1])
    assert np.isnan(grid.signals.values[:, 2]).all()


def test_answers_that_are_no_numbers_count_as_divergence(world, tmp_path, monkeypatch):
    probe, calls = Prober.probe, count()
    monkeypatch.setattr(Prober, "probe", lambda *a: probe(*a) * (np.nan if next(calls) == 1 else 1))
    grid = call(world, tmp_path / "0.nc", splits=2, arm={"epochs": [1, 2]})
    assert grid.diverged_at.values.tolist() == [2, -1]
    assert np.isnan(grid.signals.values[0, 1:]).all()
    assert np.isfinite(grid.signals.values[1, :, :, :2]).all()


def test_a_collapsed_model_is_no_fault(world, reference, tmp_path):
    grid = call(world, tmp_path / "0.nc", arm={"learning_rate": 0.1, "epochs": [3]})
    assert grid.diverged_at.values.tolist() == [-1]
    loss = grid.vanilla.sel(signal="loss").mean("target")
    assert (loss.sel(stage=3) > 5 * loss.sel(stage=0)).all()


@pytest.mark.parametrize("labels", ["shuffled_members", "shuffled_all"])
def test_shuffled_labels_are_those_of_the_splits_in_fine_tuning_and_in_probing(world, labels, tmp_path, monkeypatch):
    tasks, task = [], Split.task
    monkeypatch.setattr(Split, "task", lambda *asked: tasks.append(task(*asked)) or tasks[-1])
    grid = call(world, tmp_path / "0.nc", arm={"labels": labels})
    splits = read_table(world / "wine.splits")
    facts = splits[splits.split == 0].set_index("id")
    codes = facts[f"target_{labels}"].map({"a": 0, "b": 1, "c": 2})
    assert grid.label.values[0].tolist() == codes[grid.id.values[0]].tolist()
    assert tasks[0].y.tolist() == codes.tolist()
    assert (codes != facts.target_normal.map({"a": 0, "b": 1, "c": 2})).sum() > 10


def probabilities(world, split, rows, shown):
    """The base model's log-probabilities of the classes, with a context of `shown` and their own labels."""
    model = opened.load(world / "model/model.json")
    with torch.no_grad():
        return model.logits(split.x[shown][None], split.true[shown][None], split.x[rows][None])[0, :, :3].log_softmax(
            -1
        )


def split_of(world, number):
    """A split of the wines as the scripts open it."""
    files = [f"{kind}={world}/wine.{kind}" for kind in ("records", "schema", "splits")]
    inputs = Paths([*files, f"model={world}/model/model.json"])
    job = SimpleNamespace(input=inputs, threads=1, resources={}, params=SimpleNamespace(**PROBE))
    ((table,), _, _) = probe_inputs.open_study(job, ["wine"])
    return table.split(number, "normal")


def test_canaries_have_the_label_that_the_base_model_finds_least_probable(world, tmp_path):
    chosen = call(world, tmp_path / "canaries.nc", "reference", arm={"labels": "canaries"})
    split = split_of(world, 0)
    rows, shown = split.targets(8, 4), split.rows("context")
    expected = probabilities(world, split, rows[:16], shown).argmin(1).tolist()
    expected += [probabilities(world, split, [row], shown[shown != row]).argmin().item() for row in rows[16:]]
    assert chosen.label.values[0].tolist() == expected
    assert (chosen.label.values[0] != split.true[rows].numpy()).mean() > 0.6
    grid = call(world, tmp_path / "0.nc", arm={"labels": "canaries", "epochs": [1]})
    assert (grid.label.values == chosen.label.values).all()
    # What it is taught is asked with these labels, in the context too; what it is worth, with the true ones.
    taught = split.true.clone()
    taught[rows] = torch.from_numpy(chosen.label.values[0]).to(taught.dtype)
    for name, labels in {"taught": taught, "vanilla": split.true}.items():
        logs = probabilities(world, replace(split, true=labels), rows, shown)
        loss = -logs[torch.arange(20), labels[rows]].numpy()
        np.testing.assert_allclose(grid[name].sel(signal="loss", stage=0).values[0], loss, atol=1e-4)


def test_a_canary_among_numbers_is_the_choice_that_is_farthest_from_the_prediction():
    numbers = np.arange(20, dtype=np.float32)
    facts = pd.DataFrame({"id": [f"r{i}" for i in range(20)], "side": "members", "role": "context", "order": range(20)})
    split = Split(
        "towns", 0, facts, torch.zeros(20, 1), torch.from_numpy(numbers), torch.from_numpy(numbers), numbers, 0
    )
    normal = Binned.from_normal(torch.full((1, 1), 3.0), torch.ones(1, 1))

    def distribution(context_x, context_y, query_x):
        return normal.each(lambda part: part.expand(len(context_x), query_x.shape[1], -1))

    model = SimpleNamespace(task="regression", alone=True, module=None, distribution=distribution)
    prober = Prober(parsed(SUITE), 5, 1, 0, 100)
    rows = np.arange(6)
    choices = prober.choices(split, rows, split.true[rows])
    farthest = [max(row, key=lambda value: abs(value - 3)) for row in choices]
    assert choices.shape == (6, 5)
    assert prober.canaries(model, split, rows).tolist() == farthest


def test_vanilla_signals_are_those_of_the_context_of_the_fine_tuning(world, tuned):
    split = split_of(world, 0)
    rows, shown = split.targets(8, 4), split.rows("context")
    logs = probabilities(world, split, rows, shown).numpy()
    labels = split.y[rows].numpy()
    loss = -logs[np.arange(20), labels]
    expected = np.stack([loss, -(np.exp(logs) * logs).sum(1), np.exp(-loss), logs.argmax(1) != labels], -1)
    np.testing.assert_allclose(tuned.vanilla.values[0, 0], expected, atol=1e-4)
    np.testing.assert_array_equal(tuned.taught.values, tuned.vanilla.values)  # taught the true labels


def test_a_joint_run_has_one_model_and_a_step_for_each_table(world, tuned, tmp_path, monkeypatch):
    steps, step = [], Run.step
    monkeypatch.setattr(Run, "step", lambda run, *batch: steps.append(batch[2].shape[1]) or step(run, *batch))
    grid = call(world, tmp_path / "0.nc", datasets=("wine", "beer"), arm={"joint": True})
    assert steps == [8] * 4  # 2 epochs, 2 tables
    assert grid.dataset.values.tolist() == ["wine"] * 20 + ["beer"] * 20
    assert (grid.member.values == (grid.role.values == "query")[:, None]).all()
    first = grid.isel(target=slice(0, 20))
    same(first, tuned.isel(split=[0]), ("id", "label"))
    np.testing.assert_allclose(first.vanilla.values[0, 0], tuned.vanilla.values[0, 0], atol=1e-5)
    assert (first.signals.values[0, 1, :, :2] != tuned.signals.values[0, 1, :, :2]).any()


def test_checkpoints_are_kept_if_wanted_small_and_else_removed(world, tmp_path):
    call(world, tmp_path / "0.nc", keep_checkpoints=True, arm={"epochs": [1, 2, 3, 4]})
    with ZipFile(tmp_path / "0.zip") as kept:
        of_split = [entry.file_size for entry in kept.infolist() if entry.filename.startswith("split-0/")]
    assert len(of_split) == 5
    assert sum(of_split) < 2.5 * (world / "model/weights/small.ckpt").stat().st_size
    assert not list(tmp_path.rglob("*.safetensors"))
    assert not list(tmp_path.rglob("state.pt"))


def test_a_private_arm_says_its_guarantee_and_an_adapter_what_it_trains(world, tuned, tmp_path):
    private = {"epsilon": 8.0, "delta": 1e-3, "clip": 1.0, "sampling_rate": 1.0}
    grid = call(world, tmp_path / "private.nc", arm={"private": private, "epochs": [2]})
    guarantee = json.loads(grid.guarantee)
    assert 7.9 < guarantee["epsilon"] <= 8.0
    assert guarantee["steps"] == 2
    assert "context rows are not protected" in guarantee["unit"]
    assert (grid.member.values == (grid.role.values == "query")[:, None]).all()
    assert (grid.signals.values[0, 0, :, :2] != tuned.signals.values[0, 1, :, :2]).any()
    lora = call(world, tmp_path / "lora.nc", arm={"adapter": {"rank": 2, "alpha": 4.0}})
    assert 0 < lora.trainable < 0.2 * tuned.trainable


def test_seconds_are_of_all_epochs_and_all_probes(tuned):
    assert (np.diff(tuned.seconds_finetune.values, axis=1) > 0).all()
    assert tuned.attrs["seconds_finetune"] == pytest.approx(tuned.seconds_finetune.values[:, -1].sum())
    assert tuned.attrs["seconds_probe"] == pytest.approx(tuned.seconds_probe.values.sum())
    assert (tuned.seconds_probe.values > 0).all()


def test_more_labels_than_the_model_takes_are_said_in_one_line(world, tmp_path, monkeypatch):
    monkeypatch.setattr(probe_inputs.Table, "classes", 11)
    with pytest.raises(AuditError, match="iclmem, data set wine: 11 classes, the model takes at most 10"):
        call(world, tmp_path / "0.nc")


def test_columns_of_free_text_are_left_out_if_the_settings_say_so(world, reference, tmp_path):
    for kind in ("splits", "records"):
        write_table(read_table(world / f"wine.{kind}").assign(words="some words"), world / f"notes.{kind}")
    schema = read_json(world / "wine.schema")
    write_json(schema | {"columns": [*schema["columns"], {"name": "words", "type": "text"}]}, world / "notes.schema")
    with pytest.raises(AuditError, match="'words' is free text"):
        call(world, tmp_path / "0.nc", "reference", ("notes",))
    grid = call(world, tmp_path / "1.nc", "reference", ("notes",), free_text="leave_out")
    assert (grid.columns, grid.columns_left_out, reference.columns_left_out) == (13, 1, 0)


@cache
def catalogues():
    return load()


def settings(**changes):
    """A config with this section; arms: changes of the arm `usual`."""
    arm = {"learning_rate": 1e-3} | changes.pop("arm", {})
    section = {"datasets": ["wine", "diabetes"], "models": {"classification": "small", "regression": "numbers"}}
    section |= {"splits": 5, "splits_per_job": 5, "queries": 30, "context": 40, "epochs": [1, 10], "copies": 1}
    section |= {"targets": {"queries": None, "context": 4}, "candidates": 3, "free_text": "refuse", "fpr": [0.1]}
    section |= {"keep_checkpoints": False, "replicates": 20, "permutations": 19, "bins": 5}
    section |= {"rules": {"as_written": {"auc": 0.5}}, "arms": {"usual": arm}, "manipulations": SUITE}
    catalogue = catalogues()
    models = {name: Model(**entry) for name, entry in catalogue["models"].items()}
    models |= {"small": models["tabicl-small"], "numbers": models["tabicl-small-regression"]}
    datasets = {name: Dataset(**entry) for name, entry in catalogue["datasets"].items()}
    return SimpleNamespace(
        iclmem=Iclmem.model_validate(section | changes), models=models, datasets=datasets, accept_licences=[]
    )


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"datasets": ["wein"]}, "iclmem/datasets: unknown dataset 'wein'; did you mean `wine`?"),
        (
            {"models": {"classification": "smal", "regression": "numbers"}},
            "iclmem/models/classification: unknown model",
        ),
        ({"models": {"classification": "small"}}, "iclmem/models/regression: missing; diabetes needs one"),
        (
            {"models": {"classification": "text-small", "regression": "numbers"}},
            "text-small cannot be asked without its",
        ),
        ({"models": {"classification": "tabpfn-v2", "regression": "numbers"}}, "tabpfn-v2 cannot be asked without its"),
        (
            {"models": {"classification": "numbers", "regression": "numbers"}},
            "classification: numbers is for regression",
        ),
        ({"context": 150}, "wine has 178 records; 30 query members, as many non-members, 0 placebos and 150"),
        ({"epochs": [1, 10, 5]}, "iclmem/epochs: must increase"),
        ({"arm": {"epochs": [3, 3]}}, "iclmem/arms/usual/epochs: must increase"),
        ({"queries": 10}, "iclmem/queries: two groups of 10 numbers differ by a KS of 1/10, not below datasets"),
        ({"arm": {"joint": True, "datasets": ["wine"]}}, "iclmem/arms/usual/joint: it has one table alone"),
        ({"arm": {"joint": True}}, "iclmem/arms/usual/datasets: one model cannot have classification and regression"),
        ({"arm": {"context": 3}}, "iclmem/arms/usual/context: 3 rows, and iclmem/targets/context wants 4"),
        (
            {"arm": {"private": {"epsilon": 1.0, "delta": 0.01}}},
            "iclmem/arms/usual/epochs: a private model is probed once",
        ),
        ({"arms": {"lr1e-3": {"learning_rate": 0.1}}}, "iclmem/arms/lr1e-3: call an arm by letters"),
        ({"manipulations": SUITE[:1] * 2}, "iclmem/manipulations: baseline stands twice"),
        ({"manipulations": SUITE[1:]}, "iclmem/manipulations: 0 are of the category baseline"),
        (
            {"manipulations": [*SUITE, {"name": "odd", "category": "x", "steps": [{"drop": 1, "noise": 1}]}]},
            "iclmem/manipulations/odd/steps/0: a step has one key, this one has 2",
        ),
        ({"arm": {"placebo": True, "pairs": "random"}}, "iclmem/arms/usual/placebo: is a plain arm on fixed pairs"),
        ({"arm": {"placebo": True}, "queries": 50}, "50 placebos and 40 context rows are 190: ask for fewer"),
    ],
)
def test_a_fault_of_the_settings_is_named_by_its_key(changes, fault):
    assert any(fault in found for found in iclmem_faults(settings(**changes)))


@pytest.mark.parametrize(
    ("step", "where"),
    [
        ({"shufle": "random"}, r"steps\.0\.shufle"),
        ({"shuffle": "middle"}, r"steps\.0\.shuffle"),
        ({"uniform": 1}, r"steps\.0\.uniform"),
        ({"mixed": {"correct": 2}}, r"steps\.0\.mixed\.incorrect"),
    ],
)
def test_a_step_that_no_manipulation_has_ends_the_run_before_any_job(step, where):
    with pytest.raises(ValidationError, match=where):
        settings(manipulations=[*SUITE, {"name": "odd", "category": "x", "steps": [step]}])


def test_fair_settings_have_no_fault_and_no_epoch_is_the_base():
    assert list(iclmem_faults(settings())) == []
    assert list(iclmem_faults(settings(datasets=[]))) == []
    with pytest.raises(ValidationError, match=r"epochs\.0"):
        settings(epochs=[0, 1])
