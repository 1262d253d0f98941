"""The model card of a pre-trained model, a view of its `model.json` and `benchmark.json`."""

from collections.abc import Mapping
from textwrap import fill
from typing import Any

TEMPLATE = """\
# {name}

A small TabICL for {task}, pre-trained on synthetic tables only: {parameters:,} parameters, {head},
{megabytes:.1f} MB. It serves runs without a download and without a GPU. It is no rival of the full TabICL: where
accuracy counts, take that.
This page is generated from `model.json` and `benchmark.json`.

## Accuracy

{metric}, mean over {splits} splits of at most {rows:,} rows; half of the rows are context or training set, half are
asked. {rivals}; *raw* is one view of the table, as the audits use the model; *as deployed* is `tabicl.{estimator}` with
its default ensemble.

{table}

No real table was used in training, and none chose settings or a checkpoint: the weights are those of the last step.
{seen}

## Training

| | |
|---|---|
{training}

Loss on held-out synthetic tables: {losses} {unit}. Architecture, prior and optimiser stand in `model.json` under
`settings`; the prior is `memaudit.models.synthetic_tables`. The run is a function of these settings on one thread of
one kind of processor: the script `models_pretrain_tabicl` makes it again.

## Use

```python
from tabicl import {estimator}

{estimator}(model_path="{file}", allow_auto_download=False)
```

The file holds `config` and `state_dict` and is read with `weights_only=True`. On its own the network expects features
scaled by `memaudit.models.context_scaling.standardize` with clip {clip:g} and categories as ordinal codes.
SHA-256: `{sha256}`
"""
WORDS = {
    "classification": {
        "metric": "Area under the ROC curve (several classes: mean of one against the rest)",
        "rivals": "Rivals have scikit-learn's defaults, splits are stratified",
        "estimator": "TabICLClassifier",
        "unit": "nats",
        "seen": "(The table of a trial of two minutes was read once, to find errors.)",
    },
    "regression": {
        "metric": "R2 of the predicted mean",
        "rivals": "Rivals have scikit-learn's defaults, ridge chooses its penalty by cross-validation",
        "estimator": "TabICLRegressor",
        "unit": "(mean pinball loss, in deviations of the context's targets)",
        "seen": "Settings are the classifier's but for the head and the number of steps.",
    },
}


def card(model: Mapping[str, Any], benchmark: Mapping[str, Any], name: str) -> str:
    """Markdown of the card of the model called `name`."""
    history, classes = model["history"], model["max_classes"]
    quantiles = model["settings"]["architecture"].get("num_quantiles")
    text = TEMPLATE.format(
        name=name,
        parameters=model["parameters"],
        task=model["task"],
        head=f"at most {model['max_classes']} classes" if classes else f"{quantiles} quantiles",
        megabytes=model["bytes"] / 1e6,
        splits=benchmark["splits"],
        rows=max(entry["rows"] for entry in benchmark["data"].values()),
        table=_table(benchmark),
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


def _table(benchmark: Mapping[str, Any]) -> str:
    key = next(key for key in ("auc", "r2") if f"mean_{key}" in benchmark)
    mean = benchmark[f"mean_{key}"]
    methods = sorted(mean, key=mean.get, reverse=True)
    sizes = ["rows", "features", *(["classes"] if key == "auc" else [])]
    lines = [["data set", *sizes, *methods], ["---", *["---:"] * (len(methods) + len(sizes))]]
    for name, entry in benchmark["data"].items():
        means = [f"{sum(entry[key][method]) / len(entry[key][method]):.3f}" for method in methods]
        lines.append([name, *(str(entry[size]) for size in sizes), *means])
    lines.append(["**mean**", *[""] * len(sizes), *(f"**{mean[method]:.3f}**" for method in methods)])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


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
