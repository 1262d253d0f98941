"""The model card of a pre-trained model, a view of its `model.json` and `benchmark.json`."""

from collections.abc import Mapping
from typing import Any

TEMPLATE = """\
# {name}

A small TabICL for classification, pre-trained on synthetic tables only: {parameters:,} parameters, at most
{max_classes} classes, {megabytes:.1f} MB. It serves runs without a download and without a GPU. It is no rival of the
full TabICL: where accuracy counts, take that.
This page is generated from `model.json` and `benchmark.json`.

## Accuracy

Area under the ROC curve (several classes: mean of one against the rest), mean over {splits} stratified splits of at
most {rows:,} rows; half of the rows are context or training set, half are asked. Rivals have scikit-learn's defaults;
*raw* is one view of the table, as the audits use the model; *as deployed* is `tabicl.TabICLClassifier` with its default
ensemble.

{table}

No real table was used in training, and none chose settings or a checkpoint: the weights are those of the last step.
(The table of a trial of two minutes was read once, to find errors.)

## Training

| | |
|---|---|
{training}

Loss on held-out synthetic tables: {losses} nats. Architecture, prior and optimiser stand in `model.json` under
`settings`; the prior is `memaudit.models.prior`. The run is a function of these settings on one thread of one kind of
processor: the script `models_pretrain_tabicl` makes it again.

## Use

```python
from tabicl import TabICLClassifier

TabICLClassifier(model_path="{file}", allow_auto_download=False)
```

The file holds `config` and `state_dict` and is read with `weights_only=True`. On its own the network expects features
scaled by `memaudit.models.preprocess.standardize` with clip {clip:g} and categories as ordinal codes.
SHA-256: `{sha256}`
"""


def card(model: Mapping[str, Any], benchmark: Mapping[str, Any], name: str) -> str:
    """Markdown of the card of the model called `name`."""
    history = model["history"]
    return TEMPLATE.format(
        name=name,
        parameters=model["parameters"],
        max_classes=model["max_classes"],
        megabytes=model["bytes"] / 1e6,
        splits=benchmark["splits"],
        rows=max(entry["rows"] for entry in benchmark["data"].values()),
        table=_table(benchmark),
        training=_training(model),
        losses=", ".join(f"{entry['held_out']:.3f} (step {entry['step']:,})" for entry in (history[0], history[-1])),
        file=f"resources/{name}/{name}.ckpt",
        clip=model["clip"],
        sha256=model["sha256"],
    )


def _table(benchmark: Mapping[str, Any]) -> str:
    methods = sorted(benchmark["mean_auc"], key=benchmark["mean_auc"].get, reverse=True)
    lines = [["data set", "rows", "features", "classes", *methods], ["---", *["---:"] * (len(methods) + 3)]]
    for name, entry in benchmark["data"].items():
        means = [f"{sum(entry['auc'][method]) / len(entry['auc'][method]):.3f}" for method in methods]
        lines.append([name, *(str(entry[key]) for key in ("rows", "features", "classes")), *means])
    lines.append(["**mean**", "", "", "", *(f"**{benchmark['mean_auc'][method]:.3f}**" for method in methods)])
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
