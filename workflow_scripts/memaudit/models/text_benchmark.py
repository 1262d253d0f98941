"""Benchmark of the shipped language model: its answers on small contexts of real tables."""

import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from memaudit.common import seeds
from memaudit.common.arrays import Array
from memaudit.models.text_table_models import TextBranch

TABLES = {"breast_cancer": load_breast_cancer, "wine": load_wine}
FEATURES, QUERIES = 4, 8  # columns of a context; records of each class outside it that are queried
SIZES = (16, 32)
CARD = {"name": "text-small", "task": "classification", "mode": "raw", "options": {}}
Auc = Callable[[Any, Any], float]


def measure(folder: Path, contexts: int, seed: int, auc: Auc) -> dict[str, Any]:
    """Return the contents of `benchmark.json` for the model in `folder`: every measure for each context.

    auc: function of scores and labels, as statistics.roc.auc.
    """
    data = {}
    for name in TABLES:
        for rows in SIZES:
            measured = [scores(folder, *drawn, auc) for drawn in draws(name, rows, contexts, seed)]
            data[f"{name}, {rows} rows"] = {key: [round(one[key], 4) for one in measured] for key in measured[0]}
    return {"data": data, "contexts": contexts, "seed": seed, "milliseconds": clock(folder, seed)}


def draws(name: str, rows: int, contexts: int, seed: int) -> Iterator[tuple[Any, ...]]:
    """Yield schema, context (x, y) and new records (x, y) of every context of a table."""
    bundle = TABLES[name]()
    for number in range(contexts):
        rng = seeds.generator(seed, "benchmark text", name, rows, number)
        columns = rng.choice(bundle.data.shape[1], FEATURES, replace=False)
        x, state = bundle.data[:, columns].astype(np.float32), int(rng.integers(2**31))
        own, rest = train_test_split(np.arange(len(x)), train_size=rows, stratify=bundle.target, random_state=state)
        new = np.concatenate([rest[bundle.target[rest] == label][:QUERIES] for label in np.unique(bundle.target)])
        schema = {"columns": [{"name": bundle.feature_names[column], "type": "numeric"} for column in columns]}
        schema["target"] = {"name": "target", "categories": list(map(str, bundle.target_names))}
        yield schema, x[own], bundle.target[own], x[new], bundle.target[new]


def scores(
    folder: Path, schema: Mapping[str, Any], x: Any, y: Any, new_x: Any, new_y: Any, auc: Auc
) -> dict[str, float]:
    """Return the measures of the model and of five nearest neighbours on one context."""
    text = TextBranch.load(folder, CARD, "cpu", schema)
    neighbours = make_pipeline(StandardScaler(), KNeighborsClassifier(5)).fit(x, y)

    def predict(queries: Any) -> Array:
        logits = text.logits(*(torch.from_numpy(part)[None] for part in (x, y, queries)))[0]
        return logits.log_softmax(-1).double().numpy()

    return _measures("text-small", predict, x, y, new_x, new_y, auc) | _measures(
        "5 nearest neighbours", neighbours.predict_proba, x, y, new_x, new_y, auc
    )


def _measures(
    method: str, predict: Callable[[Any], Array], x: Any, y: Any, new_x: Any, new_y: Any, auc: Auc
) -> dict[str, float]:
    own, new = predict(x), predict(new_x)
    labels = np.unique(y)
    right = [own.argmax(1) == y, new.argmax(1) == new_y]
    # Within a class: else a model that always predicts the largest class would seem to detect members.
    membership = [
        auc(np.concatenate([own[y == label, label], new[new_y == label, label]]), np.arange(n) < (y == label).sum())
        for label in labels
        for n in [(y == label).sum() + (new_y == label).sum()]
    ]
    return {
        f"{method}, new": float(np.mean([right[1][new_y == label].mean() for label in labels])),
        f"{method}, own": float(np.mean([right[0][y == label].mean() for label in labels])),
        f"{method}, AUC": float(np.mean([auc(new[:, label], new_y == label) for label in labels])),
        f"{method}, membership": float(np.mean(membership)),
    }


def clock(folder: Path, seed: int) -> dict[str, float]:
    """Return the milliseconds to read a context of 16 records and to answer one more question about it."""
    schema, x, y, new_x, _ = next(draws("wine", SIZES[0], 1, seed))
    text = TextBranch.load(folder, CARD, "cpu", schema)

    def taken(queries: Any) -> float:
        begin = time.perf_counter()
        text.logits(*(torch.from_numpy(part)[None] for part in (x, y, queries)))
        return 1000 * (time.perf_counter() - begin)

    one, all_ = (min(taken(new_x[:count]) for _ in range(5)) for count in (1, len(new_x)))
    query = (all_ - one) / (len(new_x) - 1)
    return {"context": round(one - query, 2), "query": round(query, 2)}
