"""Planted score matrices of the attacks, and the contexts of a small table."""

import runpy
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from attack_grids import ARMS, ATTACKS, OUTPUTS, call, halves, passive, perturbed, poisoned
from context_files import ARMS as CONTEXT_ARMS
from context_files import draw
from setting_grids import ASKED
from sklearn.datasets import load_wine

from memaudit.common import tidy
from memaudit.common.checksums import sha256
from memaudit.common.io import read_table, write_grid, write_json, write_table
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
    bunch = load_wine(as_frame=True)
    table = bunch.data.iloc[:120].assign(target=bunch.target.astype(str))
    names = np.array([f"{number:04d}" for number in range(120)])
    write_table(table.assign(id=names), folder / "records.parquet")
    sides = np.where(np.random.default_rng(0).permutation(120) < 96, "members", "nonmembers")
    write_table(pd.DataFrame({"id": names, "side": sides}), folder / "split.parquet")
    columns = [{"name": name, "type": "numeric"} for name in bunch.data]
    target = {"name": "target", "type": "categorical", "categories": ["0", "1"]}
    write_json({"task": "classification", "columns": columns, "target": target}, folder / "schema.json")
    (folder / "weights").mkdir()
    neighbours = {"class": "sklearn.neighbors.KNeighborsClassifier", "params": {"n_neighbors": 1}}
    write_json(neighbours, folder / "weights/estimator.json")
    card = {"name": "nearest", "family": "estimator", "task": "classification", "mode": "raw", "options": {}}
    write_json(card | {"sha256": sha256(folder / "weights")}, folder / "model.json")
    for arm, params in CONTEXT_ARMS.items():
        draw(project, folder, arm, **params)
    ranks = pd.DataFrame({"id": names[sides == "members"], "exposure": 0.0, "rank": np.arange(96)})
    write_table(ranks, folder / "ranks.parquet")
    return folder
