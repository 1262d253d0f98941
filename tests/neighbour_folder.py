"""The wine table as the data rules leave it, beside a model that copies its neighbours: it memorizes its context."""

import numpy as np
import pandas as pd
from sklearn.datasets import load_wine

from memaudit.common.checksums import sha256
from memaudit.common.io import write_json, write_table


def write_wine(folder, neighbours):
    """Write records, split, schema and model of this number of neighbours; return ids of records, and their sides."""
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
    estimator = {"class": "sklearn.neighbors.KNeighborsClassifier", "params": {"n_neighbors": neighbours}}
    write_json(estimator, folder / "weights/estimator.json")
    card = {"name": "nearest", "family": "estimator", "task": "classification", "mode": "raw", "options": {}}
    write_json(card | {"sha256": sha256(folder / "weights")}, folder / "model.json")
    return names, sides
