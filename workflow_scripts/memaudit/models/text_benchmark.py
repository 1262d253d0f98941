"""What the card of the shipped language model measures, its answers on small contexts of real tables, and the card."""

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

from memaudit import seeds
from memaudit.arrays import Array
from memaudit.models.text_table_models import TextBranch

TABLES = {"breast_cancer": load_breast_cancer, "wine": load_wine}
FEATURES, ASKED = 4, 8  # columns of a context; new records of each class that it is asked about
SIZES = (16, 32)
CARD = {"name": "text-small", "task": "classification", "mode": "raw", "options": {}}
Auc = Callable[[Any, Any], float]
TEMPLATE = """\
# text-small

A small causal language model that reads tables as text: {parameters:,} parameters, {megabytes:.1f} MB, pre-trained on
synthetic tables only. It lets audits of text-based in-context learning run without a download and without a GPU.
It knows no language and no facts of the world, and is no rival of a large language model: what it gives is not what a
large one would give, and where that counts, name one in `config/models.yaml`. This page is generated from `model.json`
and `benchmark.json`.

## Answers

Contexts of 16 and 32 records with {features} random columns of tables that scikit-learn ships, {contexts} of each kind,
with the classes' shares. *New* records stand not in the context, {asked} of each class are asked; *own* ones do. Shown
are the balanced accuracy on both, the AUC of new ones (several classes: mean of one against the rest), and the
*membership* AUC: how well the score of the true class tells own from new records of one class. Neighbours see
standardised numbers. All are means over the contexts. Chance is one over the number of classes, and 0.5 for an AUC:
where text-small is near it, it has learnt the form of an answer, and not to find one.

{table}

## Training

{steps:,} steps on {tables:,} synthetic tables ({tokens:.1f} million tokens), {minutes:.0f} minutes of one core, seed
{seed}. The loss is that of the answers: every row is a question about the rows before it. No real table was used, and
the weights are those of the last step. Settings and versions stand in `model.json`, tables are those of
`memaudit.models.synthetic_text_tables`, and the run is a function of the settings on one thread of one kind of
processor: the script `models_pretrain_text` makes it again. The first weights are set near an induction circuit
(`memaudit.models.text_pretraining.prepare`); from random ones, trials
of 270 steps had not learnt the form of an answer.

## Use

The folder opens with `AutoModelForCausalLM` and `AutoTokenizer` of `transformers`, without code of its own and without
pickle. It reads the template form of `memaudit.models.table_serialisation`, and was trained on up to {rows} records
with up to {most} columns; a token holds one digit at most. One thread reads a context of 16 records with 4 columns in
{context:.0f} ms and answers a question about it in {query:.1f} ms. Licence: MIT. SHA-256 of the weights:
`{sha256}`
"""


def measure(folder: Path, contexts: int, seed: int, auc: Auc) -> dict[str, Any]:
    """What `benchmark.json` says of the model in `folder`: a value of every measure for each context.

    auc: of scores and whether each is positive, as statistics.roc.auc.
    """
    data = {}
    for name in TABLES:
        for rows in SIZES:
            found = [scores(folder, *drawn, auc) for drawn in draws(name, rows, contexts, seed)]
            data[f"{name}, {rows} rows"] = {key: [round(one[key], 4) for one in found] for key in found[0]}
    return {"data": data, "contexts": contexts, "seed": seed, "milliseconds": clock(folder, seed)}


def draws(name: str, rows: int, contexts: int, seed: int) -> Iterator[tuple[Any, ...]]:
    """Schema, context (x, y) and new records (x, y) of every context of a table."""
    bundle = TABLES[name]()
    for number in range(contexts):
        rng = seeds.generator(seed, "benchmark text", name, rows, number)
        columns = rng.choice(bundle.data.shape[1], FEATURES, replace=False)
        x, state = bundle.data[:, columns].astype(np.float32), int(rng.integers(2**31))
        own, rest = train_test_split(np.arange(len(x)), train_size=rows, stratify=bundle.target, random_state=state)
        new = np.concatenate([rest[bundle.target[rest] == label][:ASKED] for label in np.unique(bundle.target)])
        schema = {"columns": [{"name": bundle.feature_names[column], "type": "numeric"} for column in columns]}
        schema["target"] = {"name": "target", "categories": list(map(str, bundle.target_names))}
        yield schema, x[own], bundle.target[own], x[new], bundle.target[new]


def scores(
    folder: Path, schema: Mapping[str, Any], x: Any, y: Any, new_x: Any, new_y: Any, auc: Auc
) -> dict[str, float]:
    """Measures of the model and of five nearest neighbours on one context."""
    text = TextBranch.load(folder, CARD, "cpu", schema)
    neighbours = make_pipeline(StandardScaler(), KNeighborsClassifier(5)).fit(x, y)

    def read(asked: Any) -> Array:
        said = text.logits(*(torch.from_numpy(part)[None] for part in (x, y, asked)))[0]
        return said.log_softmax(-1).double().numpy()

    return _measures("text-small", read, x, y, new_x, new_y, auc) | _measures(
        "5 nearest neighbours", neighbours.predict_proba, x, y, new_x, new_y, auc
    )


def _measures(
    method: str, read: Callable[[Any], Array], x: Any, y: Any, new_x: Any, new_y: Any, auc: Auc
) -> dict[str, float]:
    own, new = read(x), read(new_x)
    labels = np.unique(y)
    right = [own.argmax(1) == y, new.argmax(1) == new_y]
    # Within a class: a model that always says the largest one would else seem to know its members.
    told = [
        auc(np.concatenate([own[y == label, label], new[new_y == label, label]]), np.arange(n) < (y == label).sum())
        for label in labels
        for n in [(y == label).sum() + (new_y == label).sum()]
    ]
    return {
        f"{method}, new": float(np.mean([right[1][new_y == label].mean() for label in labels])),
        f"{method}, own": float(np.mean([right[0][y == label].mean() for label in labels])),
        f"{method}, AUC": float(np.mean([auc(new[:, label], new_y == label) for label in labels])),
        f"{method}, membership": float(np.mean(told)),
    }


def clock(folder: Path, seed: int) -> dict[str, float]:
    """Milliseconds to read a context of 16 records and, beyond that, to answer a question about it."""
    schema, x, y, new_x, _ = next(draws("wine", SIZES[0], 1, seed))
    text = TextBranch.load(folder, CARD, "cpu", schema)

    def taken(asked: Any) -> float:
        begin = time.perf_counter()
        text.logits(*(torch.from_numpy(part)[None] for part in (x, y, asked)))
        return 1000 * (time.perf_counter() - begin)

    one, all_ = (min(taken(new_x[:count]) for _ in range(5)) for count in (1, len(new_x)))
    query = (all_ - one) / (len(new_x) - 1)
    return {"context": round(one - query, 2), "query": round(query, 2)}


def card(model: Mapping[str, Any], benchmark: Mapping[str, Any]) -> str:
    """Markdown of the model's card."""
    stages = model["settings"]["prior"]["curriculum"]
    return TEMPLATE.format(
        **{key: model[key] for key in ("parameters", "steps", "tables", "sha256")},
        megabytes=model["bytes"] / 1e6,
        tokens=model["tokens"] / 1e6,
        minutes=model["cpu_seconds"] / 60,
        seed=model["settings"]["seed"],
        features=FEATURES,
        asked=ASKED,
        contexts=benchmark["contexts"],
        rows=stages[-1]["rows"][1],
        most=stages[-1]["features"],
        table=_table(benchmark),
        **benchmark["milliseconds"],
    )


def _table(benchmark: Mapping[str, Any]) -> str:
    keys = list(next(iter(benchmark["data"].values())))
    lines = [["context", *keys], ["---", *["---:"] * len(keys)]]
    for name, entry in benchmark["data"].items():
        lines.append([name, *(f"{np.mean(entry[key]):.3f}" for key in keys)])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
