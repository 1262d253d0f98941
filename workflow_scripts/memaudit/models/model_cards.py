"""Model cards of the shipped models, as Markdown of their `model.json` and `benchmark.json`."""

from collections.abc import Mapping
from textwrap import fill
from typing import Any

import numpy as np

from memaudit.models.text_benchmark import FEATURES, QUERIES

TABICL = """\
# {name}

A small TabICL for {task}, pre-trained on synthetic tables only: {parameters:,} parameters, {head},
{megabytes:.1f} MB. It needs no download and no GPU. The published TabICL models are more accurate: use them where
accuracy counts.
This page is generated from `model.json` and `benchmark.json`.

## Accuracy

{metric}, mean over {splits} splits of at most {rows:,} rows; half of the rows are context or training set, half are
queries. {others}; *raw* is one view of the table, as the audits use the model; *as deployed* is `tabicl.{estimator}`
with its default ensemble.

{table}

No real table was used in training or to choose settings or a checkpoint: the weights are those of the last step.
{seen}

## Training

| | |
|---|---|
{training}

Loss on held-out synthetic tables: {losses} {unit}. Architecture, prior and optimiser are listed in `model.json`
under `settings`; the prior is `memaudit.models.synthetic_tables`. The run is a function of these settings on one thread
of one kind of processor: the script `workflow_scripts/models/pretrain_tabicl.py` repeats it.

## Use

```python
from tabicl import {estimator}

{estimator}(model_path="{file}", allow_auto_download=False)
```

The file holds `config` and `state_dict` and is read with `weights_only=True`. On its own the network expects features
scaled by `memaudit.models.context_scaling.standardize` with clip {clip:g} and categories as ordinal codes.
SHA-256: `{sha256}`
"""
TEXT = """\
# text-small

A small causal language model that reads tables as text: {parameters:,} parameters, {megabytes:.1f} MB, pre-trained on
synthetic tables only. It lets audits of text-based in-context learning run without a download and without a GPU.
It knows no natural language and no facts, and its results do not predict those of a large language model: where these
count, name one in `config/models.yaml`. This page is generated from `model.json` and `benchmark.json`.

## Accuracy

Contexts of 16 and 32 records with {features} random columns of tables that scikit-learn ships, {contexts} of each
kind, stratified by class. *Own* records are in the context; *new* ones are not, {queries} of each class are
queried. The table gives the balanced accuracy on both, the AUC of new records (several classes: mean of one against
the rest), and the *membership* AUC: how well the score of the true class separates own from new records of one
class. Nearest neighbours get standardised numbers. All are means over the contexts. Chance is one over the number
of classes, and 0.5 for an AUC: where text-small is near it, it has learnt the form of an answer but not how to find
the right one.

{table}

## Training

{steps:,} steps on {tables:,} synthetic tables ({tokens:.1f} million tokens), {minutes:.0f} minutes of one core, seed
{seed}. The loss is that of the answers: every row is a question about the rows before it. No real table was used, and
the weights are those of the last step. Settings and versions are listed in `model.json`, the tables come from
`memaudit.models.synthetic_text_tables`, and the run is a function of the settings on one thread of one kind of
processor: the script `workflow_scripts/models/pretrain_text.py` repeats it. The initial weights are set near an
induction circuit (`memaudit.models.text_pretraining.prepare`); from random ones, trials of 270 steps did not learn the
form of an answer.

## Use

The folder opens with `AutoModelForCausalLM` and `AutoTokenizer` of `transformers`, without code of its own and without
pickle. It reads the template form of `memaudit.models.table_serialisation`, and was trained on up to {rows} records
with up to {most} columns; a token holds one digit at most. One thread reads a context of 16 records with 4 columns in
{context:.0f} ms and answers a question about it in {query:.1f} ms. Licence: MIT. SHA-256 of the weights:
`{sha256}`
"""
WORDS = {
    "classification": {
        "metric": "Area under the ROC curve (several classes: mean of one against the rest)",
        "others": "The other methods have scikit-learn's defaults, splits are stratified",
        "estimator": "TabICLClassifier",
        "unit": "nats",
        "seen": "(The benchmark of a trial run of two minutes was read once, to find errors.)",
    },
    "regression": {
        "metric": "R2 of the predicted mean",
        "others": "The other methods have scikit-learn's defaults, ridge chooses its penalty by cross-validation",
        "estimator": "TabICLRegressor",
        "unit": "(mean pinball loss, in deviations of the context's targets)",
        "seen": "Settings are those of the classifier except for the head and the number of steps.",
    },
}


def tabicl_card(model: Mapping[str, Any], benchmark: Mapping[str, Any], name: str) -> str:
    """Markdown of the card of the TabICL called `name`, from its `model.json` and `benchmark.json`."""
    history, classes = model["history"], model["max_classes"]
    quantiles = model["settings"]["architecture"].get("num_quantiles")
    text = TABICL.format(
        name=name,
        parameters=model["parameters"],
        task=model["task"],
        head=f"at most {model['max_classes']} classes" if classes else f"{quantiles} quantiles",
        megabytes=model["bytes"] / 1e6,
        splits=benchmark["splits"],
        rows=max(entry["rows"] for entry in benchmark["data"].values()),
        table=_tabicl_table(benchmark),
        training=_training(model),
        losses=", ".join(f"{entry['held_out']:.3f} (step {entry['step']:,})" for entry in (history[0], history[-1])),
        file=f"resources/{name}/{name}.ckpt",
        clip=model["clip"],
        sha256=model["sha256"],
        **WORDS[model["task"]],
    )
    return (
        "\n\n".join(
            part if part[0] in "#|`" or "```" in part else fill(part, 120) for part in text.rstrip().split("\n\n")
        )
        + "\n"
    )


def text_card(model: Mapping[str, Any], benchmark: Mapping[str, Any]) -> str:
    """Markdown of the card of the language model that reads tables as text."""
    stages = model["settings"]["prior"]["curriculum"]
    return TEXT.format(
        **{key: model[key] for key in ("parameters", "steps", "tables", "sha256")},
        megabytes=model["bytes"] / 1e6,
        tokens=model["tokens"] / 1e6,
        minutes=model["cpu_seconds"] / 60,
        seed=model["settings"]["seed"],
        features=FEATURES,
        queries=QUERIES,
        contexts=benchmark["contexts"],
        rows=stages[-1]["rows"][1],
        most=stages[-1]["features"],
        table=_text_table(benchmark),
        **benchmark["milliseconds"],
    )


def _tabicl_table(benchmark: Mapping[str, Any]) -> str:
    key = next(key for key in ("auc", "r2") if f"mean_{key}" in benchmark)
    mean = benchmark[f"mean_{key}"]
    methods = sorted(mean, key=mean.get, reverse=True)
    sizes = ["rows", "features", *(["classes"] if key == "auc" else [])]
    lines = [["data set", *sizes, *methods], ["---", *["---:"] * (len(methods) + len(sizes))]]
    for name, entry in benchmark["data"].items():
        means = [f"{sum(entry[key][method]) / len(entry[key][method]):.3f}" for method in methods]
        lines.append([name, *(str(entry[size]) for size in sizes), *means])
    lines.append(["**mean**", *[""] * len(sizes), *(f"**{mean[method]:.3f}**" for method in methods)])
    return _markdown(lines)


def _training(model: Mapping[str, Any]) -> str:
    facts = {
        "steps": f"{model['steps']:,}",
        "synthetic tables": f"{model['tables']:,}",
        "CPU time, one core": f"{model['cpu_seconds'] / 60:.0f} minutes",
        "wall time": f"{model['wall_seconds'] / 60:.0f} minutes",
        "seed": str(model["settings"]["seed"]),
        "versions": ", ".join(f"{name} {version}" for name, version in sorted(model["versions"].items())),
    }
    return "\n".join(f"| {name} | {value} |" for name, value in facts.items())


def _text_table(benchmark: Mapping[str, Any]) -> str:
    keys = list(next(iter(benchmark["data"].values())))
    lines = [["context", *keys], ["---", *["---:"] * len(keys)]]
    for name, entry in benchmark["data"].items():
        lines.append([name, *(f"{np.mean(entry[key]):.3f}" for key in keys)])
    return _markdown(lines)


def _markdown(lines: list[list[str]]) -> str:
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
