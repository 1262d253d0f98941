"""Records whose targets are random, beside the shipped model, queried in this process."""

import shutil
from types import SimpleNamespace

import numpy as np
import pandas as pd
from conftest import load_script

from memaudit.common.checksums import sha256
from memaudit.common.io import write_json, write_table
from memaudit.models.shipped_model import SHIPPED, SHIPPED_CARD
from memaudit.workflow.job import Paths

RECORDS, MEMBERS = 50, 40  # contexts of 20 records, in which the model reads single ones
FILES = ["records=records.parquet", "split=split.parquet", "schema=schema.json", "design=main.nc", "model=model.json"]


def write(folder):
    """Write records, split, schema and the folder of the shipped model."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(RECORDS, 3)), columns=["c0", "c1", "c2"])
    names = np.array([f"{number:04d}" for number in range(RECORDS)])
    write_table(table.assign(target=rng.integers(0, 2, RECORDS).astype(str), id=names), folder / "records.parquet")
    sides = np.where(np.arange(RECORDS) < MEMBERS, "members", "nonmembers")
    write_table(pd.DataFrame({"id": names, "side": sides}), folder / "split.parquet")
    target = {"name": "target", "type": "categorical", "categories": ["0", "1"]}
    columns = [{"name": name, "type": "numeric"} for name in table]
    write_json({"task": "classification", "columns": columns, "target": target}, folder / "schema.json")
    (folder / "weights").mkdir()
    shutil.copy(SHIPPED, folder / "weights")
    card = SHIPPED_CARD | {"name": "shipped", "family": "tabicl", "mode": "raw"}
    write_json(card | {"sha256": sha256(folder / "weights")}, folder / "model.json")


def draw(folder, sets):
    """Draw this many contexts."""
    params = {"block": 8, "targets": MEMBERS, "sensitive": None, "sets": sets, "variants": [{}]}
    _run("attacks_draw_contexts", folder, "main.nc", params)


def query(rule, folder, output, **params):
    """Write the score matrix of a script that queries the contexts."""
    _run(rule, folder, output, params, SimpleNamespace(part=lambda name, compute: compute()))


def _run(rule, folder, output, params, *scratch):
    wildcards = SimpleNamespace(dataset="towns", arm="main", shard="0")
    files = [name.replace("=", f"={folder}/") for name in FILES]
    job = {"input": Paths(files), "output": Paths([str(folder / output)]), "params": SimpleNamespace(seed=1, **params)}
    load_script(rule).main(SimpleNamespace(rule=rule, threads=1, resources={}, wildcards=wildcards, **job), *scratch)
