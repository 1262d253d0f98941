"""Shadow models are queried about the records of their grid, whatever the shards; a model of neighbours memorizes."""

import json
import subprocess

import numpy as np
import pytest
import warm_scripts
from lira_grids import call
from neighbour_folder import write_wine

from memaudit.common.io import read_grid
from memaudit.workflow.digest import script_of

MODELS = 16


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The wine table as the data rules leave it, a model that copies its neighbours, and a membership matrix."""
    folder = tmp_path_factory.mktemp("query")
    write_wine(folder, 2)
    inputs = [f"records={folder}/records.parquet", f"split={folder}/split.parquet"]
    setting = {"draw": "balanced", "models": MODELS, "block": 8}
    call("lira_draw_designs", inputs, [folder / "design.nc"], grid=setting)
    return folder


def queried(folder, shard, size):
    names = ("records.parquet", "schema.json", "design.nc", "model.json")
    inputs = [f"{name.split('.')[0]}={name}" for name in names]
    output = f"{size}-{shard}.nc"
    command = [warm_scripts.python(), str(script_of("lira_query_shadows")), "--input", *inputs, "--output", output]
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
