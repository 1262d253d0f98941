"""Figures of the study of private in-context learning, drawn from tidy results after `tidy.expand`.

An arm has one look in all of them: TabPATE's in blue, red and purple, PromptPATE green, the other methods orange and
black. Where epsilon is infinite nothing is private. A figure raises AuditError where no row is for it, or where two are
for one point; what else is missing, such as an arm on one data set, is left out. Dashed grey: guessing.
"""

from collections.abc import Iterable
from itertools import cycle

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from memaudit.plotting import figure_style, shared_panels

OPEN = "non_private"
# arm: colour, marker, in the order of the legend; arms of other configs get what is left
ARMS = {
    OPEN: (figure_style.BLACK, ""),
    "class_moments": (figure_style.RED, "D"),
    "class_moments_shared": (figure_style.RED, "v"),
    "few_teachers": (figure_style.PURPLE, "^"),
    "as_published": (figure_style.BLUE, "o"),
    "published_moments": (figure_style.SKY, "s"),
    "prompt_pate": (figure_style.GREEN, "P"),
    "dp_tabicl": (figure_style.ORANGE, "X"),
    "query_time": (figure_style.ORANGE, "*"),
    "dp_sgd": (figure_style.BLACK, "<"),
    "mst": (figure_style.BLACK, ">"),
    "aim": (figure_style.BLACK, "d"),
}
BUDGET = "privacy budget \u03b5"
OPEN_LINE = Line2D([], [], color=figure_style.BLACK, label="non-private")


@figure_style.applied
def roc(table: pd.DataFrame) -> Figure:
    """ROC curves of LiRA on students of each arm, beside the model without privacy (TabPATE, Figure 1).

    table: rows of metric roc_tpr with keys dataset, arm, epsilon, fpr. A panel for each data set and epsilon.
    """
    private, unprotected = _private(
        shared_panels.rows(table, "tabpate_roc", "fpr", metric="roc_tpr", arm=None), "tabpate_roc"
    )
    panels = [
        pd.concat([unprotected[unprotected["dataset"] == dataset], rows]).assign(
            dataset=f"{dataset}, {_named(epsilon)}"
        )
        for (dataset, epsilon), rows in private.groupby(["dataset", "epsilon"], sort=False)
    ]
    rows = pd.concat(panels)
    looks = _looks(rows)
    if len({colour for _, colour, _ in looks.values()}) < len(looks):  # there are no markers to tell them apart
        looks = shared_panels.looks(looks)
    return shared_panels.rocs(rows, "arm", {name: (label, colour, "") for name, (label, colour, _) in looks.items()})


@figure_style.applied
def utility(table: pd.DataFrame) -> Figure:
    """Balanced accuracy on test records against epsilon, a panel per data set (TabPATE, Tables 2 and 13).

    table: rows of metric "balanced accuracy" with keys dataset, arm, epsilon.
    """
    figure, panels = _against_epsilon(table, "tabpate_utility", "balanced accuracy")
    for axes in panels:
        axes.set_ylim(max(0.0, axes.dataLim.y0 - 0.05), 1.03)
    return figure


@figure_style.applied
def regression(table: pd.DataFrame) -> Figure:
    """Error on test records over the targets' deviation, against epsilon, a panel per data set (TabPATE, Table 3).

    table: rows of metric nrmse with keys dataset, arm, epsilon. A panel ends not far above its largest estimate: few
    repeats have intervals that would leave nothing else to see.
    """
    figure, panels = _against_epsilon(table, "tabpate_regression", "nrmse")
    for axes in panels:
        highest = max(np.max(line.get_ydata(), initial=1) for line in axes.get_lines())
        axes.set_ylim(0, 1.3 * highest)
    return figure


@figure_style.applied
def answers(table: pd.DataFrame) -> Figure:
    """Labels that a budget pays for, against epsilon, a panel per data set.

    table: rows of metric answered with keys dataset, arm, epsilon; the mean over repeats, without interval.
    """
    rows, _ = _private(shared_panels.rows(table, "tabpate_answers", metric="answered", arm=None), "tabpate_answers")
    looks = _looks(rows)
    figure, panels = shared_panels.panels_of(rows["dataset"].unique(), BUDGET, "labels released")
    for dataset, axes in panels.items():
        _arms(axes, rows[rows["dataset"] == dataset], looks)
        axes.set_yscale("symlog", linthresh=1)
        axes.set_ylim(bottom=0)
        _budgets(axes, rows["epsilon"])
    return shared_panels.legend(figure, looks)


@figure_style.applied
def queries(table: pd.DataFrame) -> Figure:
    """Balanced accuracy by where the queries come from, a line for each arm, a panel per data set (TabPATE, Table 14).

    table: rows of metric "balanced accuracy" with keys dataset, arm, epsilon. A colour for each epsilon.
    """
    every = shared_panels.rows(table, "tabpate_queries", metric="balanced accuracy", arm=None)
    rows, unprotected = _private(every, "tabpate_queries")
    names, looks = list(rows["arm"].unique())[::-1], shared_panels.looks(sorted(rows["epsilon"].unique()))
    figure, panels = shared_panels.panels_of(rows["dataset"].unique(), "balanced accuracy", "")
    for dataset, axes in panels.items():
        panel = shared_panels.single(rows[rows["dataset"] == dataset], ["dataset", "arm", "epsilon"])
        for place, (epsilon, (_, colour, marker)) in enumerate(looks.items()):
            dots = panel[panel["epsilon"] == epsilon]
            height = dots["arm"].map(names.index) - 0.2 * (place - (len(looks) - 1) / 2)
            axes.hlines(height, dots["low"], dots["high"], color=colour, alpha=0.5, linewidth=1)
            axes.plot(dots["estimate"], height, color=colour, marker=marker, linestyle="")
        shown = axes.get_subplotspec().is_first_col()
        axes.set_yticks(range(len(names)), [figure_style.plain(name) if shown else "" for name in names])
        axes.set_ylim(-0.6, len(names) - 0.4)
        for row in unprotected[unprotected["dataset"] == dataset].itertuples():
            axes.axvline(row.estimate, color=figure_style.BLACK, zorder=1)
        axes.axvline(panel["null"].mean(), **shared_panels.GREY, zorder=1)
    named = {epsilon: (_named(epsilon), *look) for epsilon, (_, *look) in looks.items()}
    return shared_panels.legend(figure, named, OPEN_LINE, shared_panels.GUESSING, lines=False)


def _against_epsilon(table: pd.DataFrame, name: str, metric: str) -> tuple[Figure, list[Axes]]:
    """Every arm against epsilon; black, with its band: without privacy."""
    rows, unprotected = _private(shared_panels.rows(table, name, metric=metric, arm=None), name)
    looks = _looks(rows)
    figure, panels = shared_panels.panels_of(rows["dataset"].unique(), BUDGET, metric if metric != "nrmse" else "NRMSE")
    for dataset, axes in panels.items():
        panel = rows[rows["dataset"] == dataset]
        for row in shared_panels.single(unprotected[unprotected["dataset"] == dataset], ["dataset"]).itertuples():
            axes.axhspan(row.low, row.high, color=figure_style.BLACK, alpha=0.1, linewidth=0)
            axes.axhline(row.estimate, color=figure_style.BLACK, zorder=1)
        _arms(axes, panel, looks)
        axes.axhline(panel["null"].mean(), **shared_panels.GREY, zorder=1)
        _budgets(axes, rows["epsilon"])
    return shared_panels.legend(figure, looks, OPEN_LINE, shared_panels.GUESSING), list(panels.values())


def _private(rows: pd.DataFrame, figure: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Rows of private arms, and those of the model without privacy; epsilon as a number."""
    rows = shared_panels.rows(rows, figure, "epsilon")
    finite = np.isfinite(rows["epsilon"])
    return shared_panels.rows(rows[finite], figure, epsilon=None, arm=None), rows[~finite & (rows["arm"] == OPEN)]


def _looks(rows: pd.DataFrame) -> dict[str, tuple]:
    """Label, colour and marker of the arms that are there, in the order of ARMS and then of the rows."""
    given = dict.fromkeys(rows["arm"])
    free = (
        look
        for look in zip(cycle(shared_panels.COLOURS), cycle(shared_panels.MARKERS), strict=False)
        if look not in ARMS.values()
    )
    looks = {name: look for name, look in ARMS.items() if name in given}
    looks |= {name: next(free) for name in given if name not in ARMS}
    return {name: (figure_style.plain(name), *look) for name, look in looks.items()}


def _arms(axes: Axes, rows: pd.DataFrame, looks: dict[str, tuple]) -> None:
    """A line for each arm, with its intervals; beside each other, for many are there at each epsilon."""
    octaves = np.log2(np.unique(rows["epsilon"]))
    step = 0.7 * np.diff(octaves).min(initial=1) / len(looks)
    for place, (name, (_, colour, marker)) in enumerate(looks.items()):
        line = shared_panels.single(rows[rows["arm"] == name], ["dataset", "arm", "epsilon"]).sort_values("epsilon")
        x = line["epsilon"] * 2 ** (step * (place - (len(looks) - 1) / 2))
        axes.vlines(x, line["low"], line["high"], color=colour, alpha=0.4, linewidth=1)
        axes.plot(x, line["estimate"], color=colour, marker=marker, linewidth=0.7)


def _budgets(axes: Axes, epsilons: Iterable[float]) -> None:
    """A logarithmic axis with ticks at the budgets."""
    values = np.unique(np.asarray(epsilons))
    axes.set_xscale("log", base=2)
    axes.set_xticks(values, [f"{value:g}" for value in values])
    axes.minorticks_off()


def _named(epsilon: float) -> str:
    return f"\u03b5 = {epsilon:g}"
