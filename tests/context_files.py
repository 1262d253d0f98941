"""Calls of the scripts that draw and query the contexts of a small table, in a folder."""

import json
import subprocess
from pathlib import Path

import warm_scripts

from memaudit.attacks.score_matrices import gather
from memaudit.common.io import read_grid
from memaudit.workflow.digest import script_of

SETTINGS = [{"population": 1}, {"context": 16}, {"features": 4, "order": 1}, {"copies": 5}, {"shares": [0.5, 0.7]}]
LAYERS = [{"population": 2}, *({"population": 2, "layer": layer} for layer in ("dropped", "random", "coarsened"))]
ARMS = {
    "main": {"sets": 32, "variants": [{}]},
    "few": {"sets": 16, "variants": [{}]},
    "settings": {"sets": 16, "variants": SETTINGS},
    "defended": {"sets": 8, "variants": [*LAYERS, {"population": 2, "bags": 3}]},
}


def draw(project, folder, arm, code=0, **params):
    """The design of an arm; what the script says."""
    usual = {"seed": 1, "block": 8, "targets": 10, "sensitive": "alcohol", "sets": 16, "variants": [{}]}
    files, wildcards = ["records.parquet", "split.parquet", "schema.json"], {"dataset": "wine", "arm": arm}
    files = [f"{Path(file).stem}={file}" for file in files]
    return run(project, folder, "attacks_draw_contexts", files, [f"{arm}.nc"], usual | params, wildcards, code)


def run(project, folder, script, inputs, outputs, params, wildcards, code=0):
    command = [warm_scripts.python(), str(script_of(script)), "--input", *inputs, "--output", *outputs]
    command += ["--params", json.dumps(params), "--wildcards", json.dumps(wildcards)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    return done.stderr


def asked(project, folder, arm, shard=64, name=None, design=None):
    """The grid of an arm, asked in shards of so many contexts; design: the arm that has drawn them."""
    files = ["records=records.parquet", "schema=schema.json", f"design={design or arm}.nc", "model=model.json"]
    params = {"seed": 1, "sets": ARMS[arm]["sets"], "shard": shard, "layer": 0.1, "code": "by hand"}
    paths = []
    for number in range(-(-ARMS[arm]["sets"] * len(ARMS[arm]["variants"]) // shard)):
        paths.append(f"{name or arm}-{number}.nc")
        wildcards = {"dataset": "wine", "arm": arm, "shard": str(number)}
        run(project, folder, "attacks_query_contexts", [*files, "ranks=ranks.parquet"], [paths[-1]], params, wildcards)
    return gather([str(folder / path) for path in paths])


def variants(folder, arm, name):
    grid = read_grid(folder / f"{arm}.nc")
    return grid.isel(model=grid.variant.values == name)
