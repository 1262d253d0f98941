"""A planted score matrix of the study lira, and a call of its scripts by their rules' names."""

from types import SimpleNamespace

import numpy as np
import xarray as xr
from conftest import load_script

from memaudit.common import tidy
from memaudit.common.io import read_table, write_grid
from memaudit.data import membership_matrices
from memaudit.workflow.job import Paths

MODELS, RECORDS, MEMBERS, BLOCK = 64, 60, 44, 16
LIRA = {
    "sizes": [16, 64], "fpr": [0.1, 0.05], "replicates": 20, "permutations": 19,
    "rmia": {"gamma": 1.0, "offline_a": 0.3}, "oracle_models": None,
}  # fmt: skip


def efficient(path, gap=2.0, models=MODELS, members=MEMBERS):
    """Write a matrix in which a member record adds `gap` deviations to its signal where it is in context."""
    rng = np.random.default_rng(0)
    member = np.arange(RECORDS) < members
    design = membership_matrices.balanced(models, RECORDS, rng, block=BLOCK) & member
    scale = np.exp(rng.normal(0, 0.5, RECORDS))
    signal = (rng.normal(size=design.shape) + gap * design) * scale + rng.normal(size=RECORDS)
    arrays = {"signal": (("model", "record"), signal.astype(np.float32)), "design": (("model", "record"), design)}
    coordinates = {"member": member, "unit": np.arange(RECORDS), "superset": np.full(RECORDS, -1)}
    grid = xr.Dataset(
        arrays,
        {"model": np.arange(models), "record": [f"{number:04x}" for number in range(RECORDS)]}
        | {name: ("record", values) for name, values in coordinates.items()},
        {"dataset": "wine", "grid": "efficient", "draw": "balanced", "block": BLOCK, "population": members},
    )
    write_grid(grid, path)
    return grid


def call(rule, inputs, outputs, of_grid="efficient", **params):
    """Run a script's `main` for the grid of this name; inputs and outputs: `name=path` or paths."""
    job = {"input": Paths([str(path) for path in inputs]), "output": Paths([str(path) for path in outputs])}
    wildcards = SimpleNamespace(dataset="wine", grid=of_grid, shard="0")
    given = SimpleNamespace(**{"seed": 1} | params)
    return load_script(rule).main(SimpleNamespace(**job, params=given, wildcards=wildcards))


def results(path):
    """Tidy results with their keys as columns."""
    return tidy.expand(read_table(path))
