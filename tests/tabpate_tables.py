"""Tiny tables of private records, and calls of the scripts of the study tabpate on them."""

from types import SimpleNamespace

import numpy as np
import torch
import xarray as xr
from conftest import load_script

from memaudit.common import tidy
from memaudit.common.io import read_grid, read_table, write_grid
from memaudit.models.model_protocol import Limits
from memaudit.workflow.job import Paths

FACTS = """source: a test
records: 300
task: {task}
target: {target}
columns:
  age: [-4, 4]
  wage: [-4, 4]
"""
ROLES = {"test": 0.25, "held_out": 0.3, "max_records": None}
ARMS = {
    "as_published": {"method": "tabpate", "held_out": False, "settings": {"queries": 20, "teachers": 4}},
    "shown": {"method": "prompt-pate", "held_out": True, "settings": {"queries": 20, "teachers": 4}},
}
RECORDS = 96


class Neighbour:
    """Each row of the context has a vote, the more the nearer it is: at distance 0 all of them."""

    task, mode, alone, limits = "classification", "raw", True, Limits(None, None, None)

    def logits(self, context_x, context_y, query_x):
        votes = 1 / (torch.cdist(query_x, context_x).square() + 1e-6)
        return torch.log(torch.stack([(votes * (context_y == label)[:, None]).sum(-1) for label in (0, 1)], -1))


class Kept:
    """Parts of a job that outlive it: it is killed before it computes more than `most`."""

    def __init__(self, most):
        self.most, self.parts = most, {}

    def part(self, name, compute):
        if name not in self.parts:
            if len(self.parts) == self.most:
                raise KeyboardInterrupt
            self.parts[name] = np.asarray(compute())
        return self.parts[name]


def call(name, inputs, outputs, part="0", scratch=None, **params):
    """Run a script's main; part: the wildcard `shard`; scratch: by default nothing is kept."""
    job = {"input": Paths(inputs), "output": Paths([str(path) for path in outputs]), "threads": 1, "resources": {}}
    job |= {"params": SimpleNamespace(**params), "wildcards": SimpleNamespace(dataset="towns", shard=part)}
    script, scratch = load_script(name), scratch or SimpleNamespace(part=lambda name, compute: compute())
    return script.main(SimpleNamespace(**job), *([scratch] if hasattr(script, "resumable") else []))


def results(path):
    return tidy.expand(read_table(path))


def only(table, **keys):
    for key, value in keys.items():
        table = table[table[key] == value]
    assert len(table) == 1, keys
    return table.iloc[0]


def files(folder, *others):
    named = {"records": "records.parquet", "schema": "schema.json", "public": "towns.yaml", "key": "key"}
    return [f"{name}={folder / file}" for name, file in named.items()] + [f"model={folder / 'model.json'}", *others]


def answers(folder, name="answers", repeats=2, share=0.9, **changed):
    """Logits of a quarter of the records in each repeat, of which such a share is right."""
    rng = np.random.default_rng(len(name))
    truth, tested = np.arange(RECORDS) % 2, np.arange(RECORDS) < RECORDS // 4
    pairs = changed.pop("pairs", [("as_published", 1.0), ("other", 1.0), ("non_private", np.inf)])
    arms, epsilons, numbers = zip(*((*pair, repeat) for pair in pairs for repeat in range(repeats)), strict=True)
    right = np.array([rng.random(RECORDS) < (0.6 if arm == "as_published" else share) for arm in arms])
    predicted = np.where(right, truth, 1 - truth)
    logits = np.where(np.arange(2) == predicted[..., None], 1.0, -np.inf)
    logits[:, ~tested] = np.nan
    coords = {"arm": ("release", list(arms)), "epsilon": ("release", list(epsilons))}
    coords |= {"repeat": ("release", list(numbers)), "record": [f"r{i:02d}" for i in range(RECORDS)]}
    grid = xr.Dataset({"answers": (("release", "record", "class"), logits)}, coords)
    grid["asked"] = ("release", np.arange(len(arms)))
    grid["answered"] = grid.asked // 2
    if name == "answers":
        grid["agreement"] = ("release", np.where(np.isinf(epsilons), np.nan, 0.5 + 0.1 * np.array(numbers)))
    write_grid(grid.assign(**changed), folder / f"{name}.nc")
    return grid, right[:, tested]


def utility(folder, *names):
    inputs = [f"answers={folder / name}.nc" for name in names]
    inputs += [f"records={folder / 'records.parquet'}", f"public={folder / 'towns.yaml'}"]
    arms = ARMS | {"other": {"method": "dp-sgd"}}
    call("tabpate_measure_utility", inputs, [folder / "utility.parquet"], seed=1, replicates=50, arms=arms)
    return results(folder / "utility.parquet")


def shadows(folder, name="shadows", part="0", **changed):
    params = {"seed": 1, "sets": 16, "shard": 16, "delta": 1e-4, "roles": ROLES, "arms": ARMS}
    pairs = {"pairs": [["non_private", None], ["as_published", 1.0], ["shown", 1.0]]}
    call("tabpate_release_shadows", files(folder), [folder / f"{name}.nc"], part, **params | pairs | changed)
    return read_grid(folder / f"{name}.nc")


def attack(folder, *inputs):
    outputs = [f"tidy={folder / 'tidy.parquet'}", f"roc={folder / 'roc.parquet'}"]
    params = {"seed": 1, "delta": 1e-5, "fpr": [0.1], "replicates": 30, "permutations": 19}
    call("tabpate_attack_students", list(inputs), outputs, **params)
    return results(folder / "tidy.parquet"), results(folder / "roc.parquet")
