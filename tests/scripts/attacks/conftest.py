"""Planted score matrices of the attacks, and the contexts of a small table."""

import runpy
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from attack_grids import ARMS, ATTACKS, OUTPUTS, call, halves, passive, perturbed, poisoned
from context_files import ARMS as CONTEXT_ARMS
from context_files import draw
from context_files import run as run_script
from neighbour_folder import write_wine
from setting_grids import ASKED

from memaudit.attacks.score_matrices import gather
from memaudit.common import tidy
from memaudit.common.io import read_table, write_grid, write_table
from memaudit.workflow.digest import script_of
from memaudit.workflow.job import Paths


@pytest.fixture(scope="session")
def grids(tmp_path_factory):
    """Arguments of --input, every grid in two shards but one, and their folder."""
    folder, rng = tmp_path_factory.mktemp("grids"), np.random.default_rng(0)
    grid = passive(rng)
    write_grid(perturbed(grid, rng), folder / "perturbed.nc")
    inputs = [f"main={path}" for path in halves(grid, folder / "main")] + [f"perturbed={folder / 'perturbed.nc'}"]
    for arm in ARMS:
        inputs += [f"poisoned_{arm}={path}" for path in halves(poisoned(grid, rng), folder / f"poisoned-{arm}")]
    return folder, inputs


@pytest.fixture(scope="session")
def results(project, grids):
    """Tidy results and ROC curves, with their keys as columns."""
    folder, inputs = grids
    outputs = [f"{name}={folder / file}.parquet" for name, file in OUTPUTS.items()]
    call(project, "attacks_compare_attacks", inputs, outputs, seed=1, arms=ARMS, attacks=ATTACKS)
    return [tidy.expand(read_table(folder / f"{name}.parquet")) for name in ("attacks", "roc")]


@pytest.fixture
def run(project, tmp_path, monkeypatch):
    """Run a script's main in an empty folder; its tidy results by name of the output, keys as columns."""
    monkeypatch.chdir(tmp_path)

    def call(name, inputs, outputs, **params):
        main = runpy.run_path(str(script_of(name)))["main"]
        job = SimpleNamespace(input=Paths(inputs), output=Paths(outputs), wildcards=SimpleNamespace(dataset="toy"))
        job.params = SimpleNamespace(seed=1, attacks=ASKED | params.pop("attacks", {}), **params)
        assert main(job) == {"seed": 1}
        return [pd.read_parquet(path.partition("=")[2] or path) for path in outputs]

    return call


@pytest.fixture(scope="session")
def contexts(tmp_path_factory, project):
    """The wine table, a model that copies its neighbours, and the drawn contexts of all arms."""
    folder = tmp_path_factory.mktemp("attacks")
    names, sides = write_wine(folder, 1)
    for arm, params in CONTEXT_ARMS.items():
        draw(project, folder, arm, **params)
    ranks = pd.DataFrame({"id": names[sides == "members"], "vulnerability": 0.0, "rank": np.arange(96)})
    write_table(ranks, folder / "ranks.parquet")
    return folder


@pytest.fixture
def queried(project, contexts):
    """Query a number of shadow contexts in shards by a script; the shards put together."""

    def call(script, name, sets, shard, params):
        files = ["records=records.parquet", "schema=schema.json", "design=main.nc", "model=model.json"]
        paths = [f"{name}-{number}.nc" for number in range(sets // shard)]
        for number, path in enumerate(paths):
            wildcards = {"dataset": "wine", "shard": str(number)}
            run_script(project, contexts, script, files, [path], {"code": "by hand", "seed": 1} | params, wildcards)
        return gather([str(contexts / path) for path in paths])

    return call
