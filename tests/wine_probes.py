"""Probes of a small model on tables of wines: their files, calls of the scripts, and what they should find."""

from functools import cache
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import torch
from conftest import PROJECT, load_script
from sklearn.datasets import load_wine

from memaudit.common import seeds
from memaudit.common.checksums import sha256
from memaudit.common.io import read_grid, write_json, write_table
from memaudit.data.matched_splits import Sizes, add_labels, draw_split
from memaudit.models import model_folder as opened
from memaudit.studies.iclmem import model_probing
from memaudit.workflow.job import Paths

SIZES = Sizes([8], [12])
SUITE = [
    {"name": "baseline", "category": "baseline", "steps": []},
    {"name": "skewed", "category": "skew_true_target", "steps": [{"skew_true": 2}, {"noise": 1}]},
    {"name": "again", "category": "two_way_combinations", "steps": []},
]
ARM = {"model": "small", "learning_rate": 1e-3, "queries": 8, "context": 12, "labels": "normal", "epochs": [1, 2]}
ARM |= {"pairs": "fixed", "joint": False, "adapter": None, "private": None, "placebo": False}
ARM |= {"copies": None, "label_smoothing": None, "planted": False, "control": None, "against": None}
PROBE = {"seed": 3, "splits": 1, "queries": None, "context": 4, "candidates": 3, "replicates": 1, "free_text": "refuse"}
PROBE |= {"manipulations": SUITE, "splits_per_job": 2, "keep_checkpoints": False}


@cache
def make_world(base):
    """Files of two tables of wines, `wine` and `beer`, their splits, and the shipped classifier, below `base`."""
    folder = base / "wines"
    folder.mkdir()
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
    """The result of a script run as a job; of the reference probe `arm` gives the labels only."""
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


def call_shadows(world, output, shard="0", arm=None, **params):
    """The result of the script of shadow models; params: of `ground_truth`, or of the probe."""
    truth = {"models": 4, "models_per_job": 4, "targets": 4, "controls": 2}
    truth |= {name: params.pop(name) for name in list(params) if name in truth}
    parts = [f"{kind}={world}/wine.{kind}" for kind in ("records", "schema", "splits")]
    job = {"input": Paths([*parts, f"model={world}/model/model.json"]), "output": Paths([str(output)]), "threads": 1}
    job |= {"params": SimpleNamespace(**PROBE, arm=ARM | (arm or {}), ground_truth=truth), "resources": {}, "log": []}
    job |= {"wildcards": SimpleNamespace(dataset="wine", arm="slow", shard=shard), "rule": "iclmem_probe_shadows"}
    script = load_script("iclmem_probe_shadows")
    script.resumable(script.main)(SimpleNamespace(**job))
    return read_grid(output)


@cache
def make_reference(base):
    return call(make_world(base), base / "wines/reference.nc", "reference", splits=2)


@cache
def make_tuned(base):
    return call(make_world(base), base / "wines/tuned.nc", splits=2)


def same(first, second, names=("signals", "vanilla", "member", "in_context", "label", "id", "diverged_at")):
    for name in names:
        np.testing.assert_array_equal(first[name].values, second[name].values, err_msg=name)


def log_probabilities(world, split, rows, in_context):
    """The base model's log-probabilities of the classes, with these context rows and their true labels."""
    model = opened.load(world / "model/model.json")
    with torch.no_grad():
        return model.logits(split.x[in_context][None], split.true[in_context][None], split.x[rows][None])[
            0, :, :3
        ].log_softmax(-1)


def split_of(world, number):
    """A split of the wines, opened as by the scripts."""
    files = [f"{kind}={world}/wine.{kind}" for kind in ("records", "schema", "splits")]
    inputs = Paths([*files, f"model={world}/model/model.json"])
    job = SimpleNamespace(input=inputs, threads=1, resources={}, params=SimpleNamespace(**PROBE))
    ((table,), _, _) = model_probing.open_study(job, ["wine"])
    return table.split(number, "normal")


@pytest.fixture(scope="session")
def world(tmp_path_factory):
    return make_world(tmp_path_factory.getbasetemp())


@pytest.fixture(scope="session")
def reference(tmp_path_factory):
    return make_reference(tmp_path_factory.getbasetemp())


@pytest.fixture(scope="session")
def tuned(tmp_path_factory):
    return make_tuned(tmp_path_factory.getbasetemp())
