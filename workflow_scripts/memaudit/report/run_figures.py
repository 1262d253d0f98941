"""The figure on the page of a published run: one of its study's, drawn from the results kept beside its JSON."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import yaml
from matplotlib.figure import Figure

from memaudit.common import tidy
from memaudit.common.project_paths import PROJECT
from memaudit.plotting import attacks_figures, iclmem_figures, lira_figures, predict_figures, result_tables

PUBLISHED = PROJECT / "docs/results"


class Shown(NamedTuple):
    """A figure of config/views/{study}.yaml, what draws it, and values of keys that narrow it."""

    study: str
    figure: str
    drawn: Callable[[pd.DataFrame], Figure]
    where: Mapping[str, list[Any]]


# By run. Of the doses, those in which members are fine-tuned on as in the paper, and the positive controls.
FIGURES = {
    "attacks": Shown("attacks", "model_families", attacks_figures.model_families, {"attack": ["strongest"]}),
    "iclmem": Shown(
        "iclmem", "doses", iclmem_figures.doses, {"axis": ["epochs"], "arm": ["lr_1e_3", "planted", "forced"]}
    ),
    "lira": Shown("lira", "strategies", lira_figures.strategies, {}),
    "predict": Shown("predict", "auc", predict_figures.auc, {}),
}


def runs() -> dict[str, Path]:
    """The kept results of the published runs that have a figure and results, by run."""
    kept = {run: PUBLISHED / f"{run}.parquet" for run in FIGURES}
    return {run: path for run, path in kept.items() if path.exists()}


def of_page(run: str) -> dict[str, str]:
    """Title, caption and file of the figure of a run's page; empty for one without."""
    if run not in runs():
        return {}
    shown = FIGURES[run]
    views = yaml.safe_load((PROJECT / f"config/views/{shown.study}.yaml").read_text(encoding="utf-8"))
    text = views["figures"][f"{shown.study}_{shown.figure}"]
    return {"title": text["title"], "caption": text["caption"].strip(), "file": f"{run}.svg"}


def draw(run: str) -> Figure:
    """The figure of a run in `runs`."""
    shown = FIGURES[run]
    results = tidy.shown(str(runs()[run]))
    return shown.drawn(result_tables.chosen(results[results["study"] == shown.study], shown.where))
