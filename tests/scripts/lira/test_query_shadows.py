"""Shadow models are queried about the records of their grid, whatever the shards; a model of neighbours memorizes."""

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from lira_grids import call
from sklearn.datasets import load_wine

from memaudit.common.checksums import sha256
from memaudit.common.io import read_grid, write_json, write_table
from memaudit.workflow.digest import script_of

MODELS = 16


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The wine table as the data rules leave it, a model that copies its neighbours, and a membership matrix."""
    folder = tmp_path_factory.mktemp("query")
    bunch = load_wine(as_frame=True)
    table = bunch.data.iloc[:120].assign(target=bunch.target.astype(str))
    names = np.array([f"{number:04d}" for number in range(120)])
    write_table(table.assign(id=names), folder / "records.parquet")
    side = np.where(np.random.default_rng(0).permutation(120) < 96, "members", "nonmembers")
    write_table(pd.DataFrame({"id": names, "side": side}), folder / "split.parquet")
    columns = [{"name": name, "type": "numeric"} for name in bunch.data]
    target = {"name": "target", "type": "categorical", "categories": ["0", "1"]}
    write_json({"task": "classification", "columns": columns, "target": target}, folder / "schema.json")
    (folder / "weights").mkdir()
    neighbours = {"class": "sklearn.neighbors.KNeighborsClassifier", "params": {"n_neighbors": 2}}
    write_json(neighbours, folder / "weights/estimator.json")
    card = {"name": "nearest", "family": "estimator", "task": "classification", "mode": "raw", "options": {}}
    write_json(card | {"sha256": sha256(folder / "weights")}, folder / "model.json")
    inputs = [f"records={folder}/records.parquet", f"split={folder}/split.parquet"]
    setting = {"draw": "balanced", "models": MODELS, "block": 8}
    call("lira_draw_designs", inputs, [folder / "design.nc"], grid=setting)
    return folder


def queried(folder, shard, size):
    names = ("records.parquet", "schema.json", "design.nc", "model.json")
    inputs = [f"{name.split('.')[0]}={name}" for name in names]
    output = f"{size}-{shard}.nc"
    command = [sys.executable, str(script_of("lira_query_shadows")), "--input", *inputs, "--output", output]
    command += ["--params", json.dumps({"seed": 1, "shard": size, "code": "by hand"})]
    command += ["--wildcards", json.dumps({"dataset": "wine", "grid": "efficient", "shard": str(shard)})]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return read_grid(folder / output)


def test_a_record_in_context_is_predicted_with_more_confidence_and_shards_change_nothing(folder):
    whole, last = queried(folder, 0, MODELS), queried(folder, 1, 9)
    design = read_grid(folder / "design.nc")
    assert whole.signal.shape == design.design.shape
    signal, inside = whole.signal.values, design.design.values & design.member.values
    assert signal[inside].mean() > signal[~inside & design.member.values].mean()
    assert last.model.values.tolist() == list(range(9, MODELS))
    np.testing.assert_array_equal(last.signal.values, signal[9:])
