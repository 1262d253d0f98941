"""Figures of the study of a learned attack on language models (LT-MIA), drawn from tidy results."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from memaudit.plotting import figure_style, shared_panels

ATTACK = "lt_mia"
FAMILIES = {"transformer": figure_style.BLUE, "state space": figure_style.RED, "linear attention": figure_style.GREEN}
FAMILIES |= {"gated recurrence": figure_style.ORANGE, "matrix memory": figure_style.PURPLE}
ATTACKS = {
    ATTACK: ("learned (LT-MIA)", figure_style.RED, ""),
    "ez": ("EZ-MIA, corrected", figure_style.BLUE, ""),
    "ref_loss": ("RefLoss", figure_style.GREEN, ""),
    "loss": ("loss", figure_style.ORANGE, ""),
}
FEATURES = {
    "comparison": ("both compared", figure_style.RED, "o"),
    "target": ("target alone", figure_style.BLUE, "s"),
    "reference": ("reference alone", figure_style.GREEN, "^"),
}
RECORDS = {
    "training": ("new texts of the training combinations", figure_style.BLUE, "o"),
    "held out": ("held-out combinations", figure_style.RED, "s"),
}
LEAD = ("", figure_style.RED, "s")
NONE = Line2D([], [], **shared_panels.GREY, label="no effect")


@figure_style.applied
def transfer(table: pd.DataFrame) -> Figure:
    """AUC of the learned attack by corpus and family (LT-MIA, Figure 1); bars stand on the value of guessing.

    table: rows of metric auc with keys dataset, family, attack, without a model: means over the models of a family.
    """
    rows = shared_panels.rows(table, "ltmia_transfer", metric="auc", attack=ATTACK, dataset=None, family=None)
    rows = shared_panels.single(rows[rows["model"].isna()], ["dataset", "family"])
    figure, ((axes,),) = figure_style.panels(1, 1, height=2.2)
    colours = _colours(rows["family"])
    _bars(axes, rows, "dataset", "family", colours, foot=0.5)
    axes.axhline(0.5, **shared_panels.GREY, zorder=3)
    axes.set(ylabel="AUC", ylim=(min(0.45, rows["low"].min() - 0.02), 1.0))
    return _legend(figure, colours, shared_panels.GUESSING)


@figure_style.applied
def roc(table: pd.DataFrame) -> Figure:
    """ROC curves on logarithmic axes, a panel per family.

    table: rows of metric roc_tpr with keys dataset (the family), attack, fpr.
    """
    rows = shared_panels.rows(table, "ltmia_roc", "fpr", metric="roc_tpr", attack=list(ATTACKS))
    return shared_panels.rocs(rows, "attack", shared_panels.present(ATTACKS, rows["attack"]))


@figure_style.applied
def importance(table: pd.DataFrame) -> Figure:
    """Loss of AUC without a group of features, by family (LT-MIA, Figure 3).

    table: rows of metric "auc drop" with keys family, features.
    """
    rows = shared_panels.rows(table, "ltmia_importance", metric="auc drop", family=None, features=list(FEATURES))
    rows = shared_panels.single(rows[rows["family"] != "mean"], ["family", "features"])
    figure, ((axes,),) = figure_style.panels(1, 1, height=2.2)
    colours = {name: colour for name, (_, colour, _) in FEATURES.items()}
    _bars(axes, rows, "family", "features", colours)
    axes.axhline(0, **shared_panels.GREY, zorder=3)
    axes.set(ylabel="loss of AUC")
    return _legend(figure, {FEATURES[name][0]: colour for name, colour in colours.items()}, NONE)


@figure_style.applied
def diversity(table: pd.DataFrame) -> Figure:
    """AUC against the number of training combinations at a fixed number of texts (LT-MIA, Figure 4).

    table: rows of metric auc with keys combinations, records.
    """
    rows = shared_panels.rows(table, "ltmia_diversity", "combinations", metric="auc", records=list(RECORDS))
    rows = shared_panels.single(rows, ["combinations", "records"])
    figure, ((axes,),) = figure_style.panels(1, 1, width=figure_style.ONE_COLUMN, height=2.2)
    shared_panels.lines(axes, rows.assign(dataset="", null=np.nan), "combinations", "records", RECORDS)
    axes.axhline(0.5, **shared_panels.GREY, zorder=1)
    axes.set(xlabel="training combinations", ylabel="AUC")
    shared_panels.ticks(axes, rows["combinations"], base=10)
    return shared_panels.legend(figure, RECORDS, shared_panels.GUESSING)


@figure_style.applied
def trend(table: pd.DataFrame) -> Figure:
    """Lead over EZ-MIA against the number of training combinations, and against how strongly they are tuned.

    table: rows of metric "lead over ez" with keys records, and combinations or strength, and of "ez auc" with records
    and strength. A run whose training combinations are all tuned alike has one panel.
    """
    lead = shared_panels.rows(table, "ltmia_trend", metric="lead over ez", records="held out")
    numbers = shared_panels.single(shared_panels.rows(lead, "ltmia_trend", "combinations"), ["combinations"])
    strengths = lead[lead["strength"].notna()] if "strength" in lead else lead[:0]
    figure, (panels,) = figure_style.panels(1, 2 if len(strengths) else 1, height=2.2)
    panels[0].set(xlabel="training combinations", ylabel="AUC less that of EZ-MIA")
    shared_panels.intervals(panels[0], numbers["combinations"], numbers, LEAD, line={"linestyle": "-"})
    shared_panels.ticks(panels[0], numbers["combinations"], base=10)
    if len(strengths):
        ez = shared_panels.rows(table, "ltmia_trend", metric="ez auc", records="training", strength=None)
        places = strengths["strength"].map(ez.set_index("strength")["estimate"])
        panels[1].set(xlabel="EZ-MIA's AUC on the training combinations")
        shared_panels.intervals(panels[1], places, strengths, LEAD, line={"linestyle": ""})
        marks = sorted(zip(places, strengths["estimate"], strengths["strength"], strict=True))
        for number, (place, height, name) in enumerate(marks):
            # Neighbours' names would meet: above and below in turn, and inside the panel.
            side, sign = ("right", -1) if place > places.mean() else ("left", 1)
            at = sign * 4, (4, -11)[number % 2]
            panels[1].annotate(figure_style.plain(name), (place, height), at, textcoords="offset points", ha=side)
    for axes in panels:
        axes.axhline(0, **shared_panels.GREY, zorder=1)
    return shared_panels.legend(figure, {}, NONE)


def _bars(axes, rows: pd.DataFrame, group: str, bar: str, colours: Mapping[str, str], foot: float = 0.0) -> None:
    """Draw bars side by side within each group, from `foot` to the estimates, with their intervals."""
    groups = list(dict.fromkeys(rows[group]))
    width = 0.8 / len(colours)
    for place, (name, colour) in enumerate(colours.items()):
        bars = rows[rows[bar] == name]
        x = bars[group].map(groups.index) + width * (place - (len(colours) - 1) / 2)
        axes.bar(x, bars["estimate"] - foot, 0.9 * width, foot, color=colour, alpha=0.85, linewidth=0)
        axes.vlines(x, bars["low"], bars["high"], color=figure_style.BLACK, linewidth=0.8)
    axes.set_xticks(range(len(groups)), [figure_style.plain(name) for name in groups])


def _colours(families: pd.Series) -> dict[str, str]:
    """A colour for each family of the rows, fixed for those of FAMILIES."""
    free = (colour for colour in shared_panels.COLOURS if colour not in FAMILIES.values())
    return {name: FAMILIES.get(name) or next(free, figure_style.BLACK) for name in dict.fromkeys(families)}


def _legend(figure: Figure, colours: Mapping[str, str], *others: Line2D) -> Figure:
    return shared_panels.legend(
        figure, {name: (name, colour, "s") for name, colour in colours.items()}, *others, lines=False
    )
