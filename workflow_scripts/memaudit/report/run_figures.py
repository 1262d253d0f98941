"""The figure on the page of a published run: one of its study's, drawn from the results kept beside its JSON."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import yaml
from matplotlib.figure import Figure

from memaudit.common import tidy
from memaudit.common.project_paths import PROJECT
from memaudit.plotting import (
    attacks_figures,
    iclmem_figures,
    lira_figures,
    ltmia_figures,
    predict_figures,
    result_tables,
    tabpate_figures,
)
from memaudit.statistics.dataset_means import AS_PRINTED

PUBLISHED = PROJECT / "docs/results"


class Shown(NamedTuple):
    """A figure of config/views/{study}.yaml, what draws it, and, where it shows less, the keys that narrow it and its
    own caption."""

    study: str
    figure: str
    drawn: Callable[[pd.DataFrame], Figure]
    where: Mapping[str, list[Any]] = {}
    caption: str = ""


FAMILIES = (
    "AUC of the strongest score against balanced accuracy on records that are in no context: one mark for each family "
    "of models, mean over the tables that compare families, with 95 % intervals. The dashed line is guessing."
)
DOSES = (
    "AUC of four signals against the number of epochs on the same records, with 95 % intervals over splits: "
    "fine-tuning at learning rate 0.001 on each table (lr_1e_3), and the positive controls (planted, forced). Red: the "
    "loss in the context of the fine-tuning; other colours: the probe, without information in its context. Dotted: "
    "the smallest AUC that the probe's loss shows with probability .9. A probe that stays at chance while the red line "
    "rises misses what was memorized. Not in the paper."
)
PAPERS_GRID = {"regime": ["single fixed"], "queries": [50], "rule": ["as_written", "null_calibrated"]}
PRIVATE_WAYS = ["non_private", "as_published", "class_moments", "dp_tabicl", "dp_linear", "aim"]
BUDGETS = (
    "Balanced accuracy on test records with 95 % intervals at two privacy budgets: TabPATE as it is published "
    "(as_published), a student of class-moments, which asks no teacher (class_moments), DP-TabICL (dp_tabicl), a "
    "private linear model (dp_linear) and AIM, each on the tables that it was run on. Black, with its band: the model "
    "with the private records in its context; dashed: guessing. Tables 2 and 13 of the paper have all ways."
)


def _budgets(results: pd.DataFrame) -> Figure:
    """Utility by table; a mean is left out, since not every way was run on all of its tables."""
    return tabpate_figures.utility(results[results["dataset"] != "mean"])


FIGURES = {
    "attacks": Shown("attacks", "model_families", attacks_figures.model_families, {"attack": ["strongest"]}, FAMILIES),
    "attacks_features": Shown("attacks", "features", attacks_figures.features),
    "iclmem": Shown(
        "iclmem", "doses", iclmem_figures.doses, {"axis": ["epochs"], "arm": ["lr_1e_3", "planted", "forced"]}, DOSES
    ),
    "iclmem_grid": Shown("iclmem", "epochs", iclmem_figures.epochs, PAPERS_GRID),
    "lira": Shown("lira", "strategies", lira_figures.strategies),
    "lira_population": Shown("lira", "fpc_population", lira_figures.fpc_population),
    "ltmia_diversity": Shown("ltmia", "diversity", ltmia_figures.diversity, {"source": ["here"]}),
    "ltmia_strict": Shown("ltmia", "transfer", ltmia_figures.transfer),
    "ltmia_texts": Shown("ltmia", "transfer", ltmia_figures.transfer),
    "predict": Shown("predict", "auc", predict_figures.auc),
    "tabpate": Shown("tabpate", "utility", _budgets, {"arm": PRIVATE_WAYS}, BUDGETS),
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
    return {"title": text["title"], "caption": shown.caption or text["caption"].strip(), "file": f"{run}.svg"}


def draw(run: str) -> Figure:
    """The figure of a run in `runs`."""
    shown = FIGURES[run]
    results = tidy.shown(str(runs()[run]))
    own = results[(results["study"] == shown.study) & (results["method"] != AS_PRINTED)]
    return shown.drawn(result_tables.chosen(own, shown.where))
