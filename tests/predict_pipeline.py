"""A tiny setting of study `predict` from its table to its results, with planted mislabelled records and canaries."""

import json
from functools import cache
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from conftest import load_script

from memaudit.common.tidy import COLUMNS, expand
from memaudit.workflow.job import Paths
from memaudit.workflow.scratch import resumable

RECORDS, MODELS, TARGETS, NOISE, CANARIES = 120, 16, 2, 0.1, 10
TRAINING = {
    "epochs": 40,
    "batch": 12,
    "learning_rate": 0.01,
    "optimiser": "adamw",
    "momentum": 0.9,
    "weight_decay": 0.0,
}
TRAINING |= {"warmup": 0.0, "decay": "none", "clip_norm": None, "every": 1, "until": 16, "later": 3}
SETTING = {
    "data": {"kind": "table", "dataset": "toy", "questions": None},
    "network": {"kind": "mlp", "width": 24, "depth": 2, "together": 4},
    "training": TRAINING,
    "max_records": None,
    "label_noise": NOISE,
    "canaries": CANARIES,
    "models": MODELS,
    "targets": TARGETS,
    "shard": 8,
    "interrupt": "first",
    "drop": None,
}
JUDGED = {"memorized": 2.0, "thresholds": [0.5, 4.0], "fpr": [0.1], "tpr": [0.75], "replicates": 20}
SCORING = {"directions": 200, "accuracy": None, "dimensions": 500}


def job(given, made, params, rule="predict_score_records", **wildcards):
    inputs = [
        f"{name}={path}" for name, paths in given.items() for path in (paths if isinstance(paths, list) else [paths])
    ]
    return SimpleNamespace(
        rule=rule,
        input=Paths(inputs),
        output=Paths([f"{name}={path}" for name, path in made.items()]),
        params=SimpleNamespace(seed=3, **params),
        wildcards=SimpleNamespace(**wildcards),
        threads=1,
        resources={},
    )


@cache
def make_table(base):
    """Two classes that lie apart in two of eight columns, each record with a column of noise."""
    folder = base / "predict-table"
    folder.mkdir()
    rng = np.random.default_rng(0)
    y = np.arange(RECORDS) % 2
    x = rng.normal(size=(RECORDS, 8)) + 1.6 * y[:, None] * np.eye(8)[:2].sum(0)
    frame = pd.DataFrame(x, columns=[f"c{column}" for column in range(8)])
    frame["target"], frame["id"] = np.array(["no", "yes"])[y], [f"{row:032x}" for row in range(RECORDS)]
    frame.to_parquet(folder / "records.parquet")
    columns = [{"name": f"c{column}", "type": "numeric"} for column in range(8)]
    target = {"name": "target", "type": "categorical", "categories": ["no", "yes"]}
    schema = {"task": "classification", "columns": columns, "target": target}
    (folder / "schema.json").write_text(json.dumps(schema))
    return {"records": folder / "records.parquet", "schema": folder / "schema.json"}


def prepared(table, folder, setting=SETTING):
    made = {"records": folder / "records.nc", "weights": folder / "base.safetensors"}
    load_script("predict_prepare_setting").main(job(table, made, {"setting": setting}, case="toy"))
    return made


def trained(given, folder, shard, setting=SETTING):
    made = {"signals": folder / f"{shard}.nc", "states": folder / f"{shard}.states.nc"}
    facts = resumable(load_script("predict_train_shadows").main)(
        job(given, made, {"setting": setting}, "predict_train_shadows", case="toy", shard=shard)
    )
    assert facts["device"] == "cpu"
    return made


@cache
def make_run(base):
    """A whole setting, from its records to its results."""
    folder = base / "predict-run"
    folder.mkdir()
    ready = prepared(make_table(base), folder)
    shards = [trained(ready, folder, str(shard)) for shard in range(2)]
    made = {"scores": folder / "scores.nc"}
    params = {"targets": TARGETS, "drop": 0.95, "tolerance": 0.03, "interrupt": "first"}
    first = {"records": ready["records"], "signals": shards[0]["signals"], "states": shards[0]["states"]}
    resumable(load_script("predict_score_records").main)(job(first, made, params | {"scoring": SCORING}, case="toy"))
    given = {"records": ready["records"], "scores": made["scores"], "signals": [one["signals"] for one in shards]}
    judged = {name: folder / f"{name}.parquet" for name in ("tidy", "roc", "records")}
    judged["recommended"] = folder / "recommended.json"
    load_script("predict_judge_predictors").main(job(given, judged, params | JUDGED, case="toy"))
    return SimpleNamespace(folder=folder, ready=ready, given=given, judged=judged, params=params)


@pytest.fixture(scope="session")
def table(tmp_path_factory):
    return make_table(tmp_path_factory.getbasetemp())


@pytest.fixture(scope="session")
def run(tmp_path_factory):
    return make_run(tmp_path_factory.getbasetemp())


@pytest.fixture(scope="session")
def results(run):
    tidy = pd.read_parquet(run.judged["tidy"])
    assert list(tidy) == list(COLUMNS)
    return expand(tidy)


def text_setting(small):
    network = {"kind": "text", "model": None, "adapter": {"rank": 2, "alpha": 4.0}}
    network["small"] = {"family": "llama", "width": 16, "layers": 2, "heads": 2, "inner": 32} | small
    data = SETTING["data"] | {"questions": {"features": 3, "bins": 4}}
    training = TRAINING | {"epochs": 1, "until": 1.0, "later": 0, "every": 0.5}
    return SETTING | {"data": data, "network": network, "training": training, "canaries": 4}
