"""Planted probe results of the study ICLMEM, and calls of the scripts that evaluate them."""

import runpy
from functools import cache
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
import xarray as xr

from memaudit.common import tidy
from memaudit.common.io import read_table, write_grid
from memaudit.workflow.digest import script_of
from memaudit.workflow.job import Paths

SUITE = {"plain": "baseline", "first": "positional shuffling", "true_2": "skew true target", "three": "skew incorrect"}
QUERIES, CONTEXT, SPLITS, EPOCHS = 16, 6, 5, [1, 10]
WEIGHTS = 1000  # that learn, in every condition
PAIR = [*range(QUERIES), *range(QUERIES), *[-1] * CONTEXT]
ROLES = ["query"] * QUERIES + ["nonmember"] * QUERIES + ["context"] * CONTEXT
TASKS = {"wine": ("classification", 3, 3, 3), "prices": ("regression", 0, 40, 250)}
BASE = {"model": "small", "context": CONTEXT, "pairs": "fixed", "joint": False, "adapter": None, "private": None}
BASE |= {"placebo": False, "copies": None, "label_smoothing": None, "planted": False, "control": None, "against": None}
PARAMS = {
    "fpr": [0.1], "replicates": 30, "permutations": 199, "bins": 6,
    "rules": {"as_written": {"auc": 0.5}, "as_tabulated": {"auc": 0.55}},
    "doses": {"learning_rate": ["idle", "memorizer", "broken"]},
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


def condition(labels="normal", learning_rate=1e-3, **more):
    return {**BASE, "learning_rate": learning_rate, "queries": QUERIES, "labels": labels, "epochs": EPOCHS} | more


CONDITIONS = {name: condition(labels, rate, placebo=name == "others") for name, (_, _, rate, labels) in PLANTED.items()}


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
    """A condition on one data set (split, epoch, target, manipulation, signal): members' losses fall by epoch."""
    fall, factor, _, _ = planted
    sizes, member = (SPLITS, len(EPOCHS), len(ROLES), len(SUITE)), np.array(ROLES) == "query"
    loss = np.nan_to_num(base.signals.values[:, None, ..., 0], nan=1.0) + 0.3 * rng.normal(size=sizes)
    # Common to all models of a split: records that any fine-tuning makes harder.
    loss += 0.3 * rng.normal(size=(SPLITS, 1, len(ROLES), 1))
    loss -= fall * np.where(np.array(EPOCHS) == 10, 1.0, 0.0)[:, None, None] * member[:, None]
    usual = 1 + rng.random((SPLITS, 1, len(ROLES)))
    vanilla = answers(np.concatenate([usual, usual * factor, usual * factor], axis=1), rng)
    queried = np.broadcast_to(member, sizes[:3])
    grid = xr.Dataset(
        {
            "signals": (("split", "epoch", "target", "manipulation", "signal"), answers(loss, rng)),
            "vanilla": (("split", "stage", "target", "signal"), vanilla),
            "relabelled": (("split", "stage", "target", "signal"), vanilla),
            "label_rank": (("split", "stage", "target"), np.ones(vanilla.shape[:3], np.float32)),
            "member": (("split", "epoch", "target"), queried),
            "held_out": (("split", "epoch"), np.ones(sizes[:2])),
            "in_context": (("split", "epoch", "target"), np.broadcast_to(np.array(ROLES) == "context", sizes[:3])),
            "diverged_at": ("split", [-1] * SPLITS),
        },
        {
            "split": base.split, "epoch": EPOCHS, "stage": [0, *EPOCHS], "id": base.id, "role": base.role,
            "manipulation": list(SUITE), "dataset": ("target", [base.dataset] * len(ROLES)),
        },
        {"trainable": WEIGHTS},
    )  # fmt: skip
    # The order of the targets may differ from the base's.
    return grid.isel(target=rng.permutation(len(ROLES)))


def without_end(grid):
    """The same condition, diverged after epoch 1 in all splits and before it in the first."""
    late = grid.epoch > 1
    first = (grid.split == 0) & (grid.epoch >= 1)
    stages = (grid.stage > 1) | ((grid.split == 0) & (grid.stage >= 1))
    lost = {"signals": grid.signals.where(~(late | first))}
    lost |= {name: grid[name].where(~stages) for name in ("vanilla", "relabelled", "label_rank")}
    return grid.assign(**lost, diverged_at=("split", [1, *[10] * (SPLITS - 1)]))


def without_members(grid):
    """The same condition, fine-tuned on records that are no targets: a negative control."""
    return grid.assign(member=xr.zeros_like(grid.member))


def in_shards(grid, path, bounds):
    names = []
    for start, stop in pairwise(bounds):
        names.append(f"{path}{start}.nc")
        write_grid(grid.isel(split=slice(start, stop)), names[-1])
    return names


def call(name, inputs, outputs, **params):
    main = runpy.run_path(str(script_of(name)))["main"]
    job = {"input": Paths(inputs), "output": Paths(outputs), "params": SimpleNamespace(seed=1, **params)}
    return main(SimpleNamespace(**job))


def judge(folder, inputs, conditions):
    outputs = {"runs": folder / "runs.parquet", "results": folder / "results.parquet", "null": folder / "null.nc"}
    folder.mkdir(exist_ok=True)
    named = [f"{key}={path}" for key, path in outputs.items()]
    call("iclmem_judge_runs", inputs, named, arms=conditions, iclmem=PARAMS)
    return outputs


@cache
def planted_grids():
    """Reference grids by (data set, labels), those of every condition, and that of one model for both data sets."""
    rng = np.random.default_rng(0)
    bases = {
        (name, labels): reference(name, labels, rng) for name in TASKS for labels in ("normal", "shuffled_members")
    }
    conditions = {
        (name, dataset): tuned(bases[dataset, planted[-1]], planted, rng)
        for name, planted in PLANTED.items()
        for dataset in TASKS
    }
    conditions |= {("diverged", dataset): without_end(conditions["diverged", dataset]) for dataset in TASKS}
    conditions |= {("others", dataset): without_members(conditions["others", dataset]) for dataset in TASKS}
    both = [tuned(bases[dataset, "normal"], PLANTED["memorizer"], rng) for dataset in TASKS]
    return bases, conditions, xr.concat(both, "target", data_vars="minimal", combine_attrs="override")


def judged_tasks(folder):
    """Outputs of the two tasks of one data set and of the joint one, and the tests over all of them."""
    bases, conditions, joint = planted_grids()
    paths = {}
    for (dataset, labels), base in bases.items():
        paths[dataset, labels] = folder / f"{dataset}-{labels}.nc"
        write_grid(base, paths[dataset, labels])
    tasks = {}
    for dataset in TASKS:
        inputs = [f"reference={path}" for (name, _), path in paths.items() if name == dataset]
        for name in PLANTED:
            inputs += [
                f"{name}={path}"
                for path in in_shards(conditions[name, dataset], folder / f"{dataset}-{name}", [0, 2, 5])
            ]
        tasks[dataset] = judge(folder / dataset, inputs, CONDITIONS)
    inputs = [f"reference={paths[dataset, 'normal']}" for dataset in TASKS]
    inputs += [f"together={path}" for path in in_shards(joint, folder / "joint", [0, 5])]
    tasks["joint"] = judge(folder / "joint", inputs, {"together": condition(joint=True)})
    inputs = [f"{name}={task[name]}" for task in tasks.values() for name in ("runs", "null")]
    call(
        "iclmem_decide_outcomes",
        inputs,
        [f"tidy={folder / 'outcomes.parquet'}"],
        iclmem=PARAMS,
        published=PRINTED,
    )
    return tasks, tidy.expand(read_table(folder / "outcomes.parquet"))


@pytest.fixture(scope="session")
def judged(tmp_path_factory):
    return judged_tasks(tmp_path_factory.mktemp("iclmem"))
