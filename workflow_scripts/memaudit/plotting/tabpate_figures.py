"""Figures of the study of private in-context learning (TabPATE, Sections 4 and 5), drawn from tidy results.

Variants of TabPATE are blue, red and purple, PromptPATE green, other methods orange and black. An infinite epsilon
means no privacy.
"""

from itertools import cycle

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from memaudit.plotting import figure_style, shared_panels

NON_PRIVATE = "non_private"
# Colour and marker of each condition (`arm`), in the order of the legend; other conditions get unused ones.
CONDITIONS = {
    NON_PRIVATE: (figure_style.BLACK, ""),
    "class_moments": (figure_style.RED, "D"),
    "class_moments_shared": (figure_style.RED, "v"),
    "few_teachers": (figure_style.PURPLE, "^"),
    "as_published": (figure_style.BLUE, "o"),
    "published_moments": (figure_style.SKY, "s"),
    "prompt_pate": (figure_style.GREEN, "P"),
    "dp_tabicl": (figure_style.ORANGE, "X"),
    "query_time": (figure_style.ORANGE, "*"),
    "dp_sgd": (figure_style.BLACK, "<"),
    "dp_linear": (figure_style.SKY, "p"),
    "mst": (figure_style.BLACK, ">"),
    "aim": (figure_style.BLACK, "d"),
}
BUDGET = "privacy budget \u03b5"
NON_PRIVATE_LINE = Line2D([], [], color=figure_style.BLACK, label="non-private")


@figure_style.applied
def roc(table: pd.DataFrame) -> Figure:
    """ROC curves of LiRA on students of each condition, beside the model without privacy (TabPATE, Figure 1).

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
    if len({colour for _, colour, _ in looks.values()}) < len(looks):  # without markers two would look the same
        looks = shared_panels.looks(looks)
    return shared_panels.rocs(rows, "arm", shared_panels.unmarked(looks))


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
    """Normalised RMSE on test records against epsilon, a panel per data set (TabPATE, Table 3).

    table: rows of metric nrmse with keys dataset, arm, epsilon. The axis ends a little above the largest estimate:
    few repeats have very wide intervals.
    """
    figure, panels = _against_epsilon(table, "tabpate_regression", "nrmse")
    for axes in panels:
        highest = max(np.max(line.get_ydata(), initial=1) for line in axes.get_lines())
        axes.set_ylim(0, 1.3 * highest)
    return figure


@figure_style.applied
def answers(table: pd.DataFrame) -> Figure:
    """Number of released labels against epsilon, a panel per data set.

    table: rows of metric answered with keys dataset, arm, epsilon: the mean over repeats, without interval.
    """
    rows, _ = _private(shared_panels.rows(table, "tabpate_answers", metric="answered", arm=None), "tabpate_answers")
    looks = _looks(rows)
    figure, panels = shared_panels.panels_of(rows["dataset"].unique(), BUDGET, "labels released")
    for dataset, axes in panels.items():
        _lines(axes, rows[rows["dataset"] == dataset], looks)
        axes.set_yscale("symlog", linthresh=1)
        axes.set_ylim(bottom=0)
        shared_panels.ticks(axes, rows["epsilon"], base=2)
    return shared_panels.legend(figure, looks)


@figure_style.applied
def queries(table: pd.DataFrame) -> Figure:
    """Balanced accuracy by the source of the queries, a line for each condition, a panel per data set (Table 14).

    table: rows of metric "balanced accuracy" with keys dataset, arm, epsilon. A colour for each epsilon.
    """
    measured = shared_panels.rows(table, "tabpate_queries", metric="balanced accuracy", arm=None)
    rows, unprotected = _private(measured, "tabpate_queries")
    names, looks = list(rows["arm"].unique())[::-1], shared_panels.looks(sorted(rows["epsilon"].unique()))
    figure, panels = shared_panels.panels_of(rows["dataset"].unique(), "balanced accuracy", "")
    for dataset, axes in panels.items():
        panel = shared_panels.single(rows[rows["dataset"] == dataset], ["dataset", "arm", "epsilon"])
        shared_panels.dots(axes, panel, "arm", names, "epsilon", looks)
        for row in unprotected[unprotected["dataset"] == dataset].itertuples():
            axes.axvline(row.estimate, color=figure_style.BLACK, zorder=1)
        axes.axvline(panel["null"].mean(), **shared_panels.GREY, zorder=1)
    named = {epsilon: (_named(epsilon), *look) for epsilon, (_, *look) in looks.items()}
    return shared_panels.legend(figure, named, NON_PRIVATE_LINE, shared_panels.GUESSING, lines=False)


def _against_epsilon(table: pd.DataFrame, name: str, metric: str) -> tuple[Figure, list[Axes]]:
    """Figure with every condition against epsilon (black line with band: without privacy), and its panels."""
    rows, unprotected = _private(shared_panels.rows(table, name, metric=metric, arm=None), name)
    looks = _looks(rows)
    figure, panels = shared_panels.panels_of(rows["dataset"].unique(), BUDGET, metric if metric != "nrmse" else "NRMSE")
    for dataset, axes in panels.items():
        panel = rows[rows["dataset"] == dataset]
        for row in shared_panels.single(unprotected[unprotected["dataset"] == dataset], ["dataset"]).itertuples():
            axes.axhspan(row.low, row.high, color=figure_style.BLACK, alpha=0.1, linewidth=0)
            axes.axhline(row.estimate, color=figure_style.BLACK, zorder=1)
        _lines(axes, panel, looks)
        axes.axhline(panel["null"].mean(), **shared_panels.GREY, zorder=1)
        shared_panels.ticks(axes, rows["epsilon"], base=2)
    return shared_panels.legend(figure, looks, NON_PRIVATE_LINE, shared_panels.GUESSING), list(panels.values())


def _private(rows: pd.DataFrame, figure: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Rows of private conditions, and those of the model without privacy; epsilon as a number."""
    rows = shared_panels.rows(rows, figure, "epsilon")
    finite = np.isfinite(rows["epsilon"])
    return shared_panels.rows(rows[finite], figure, epsilon=None, arm=None), rows[
        ~finite & (rows["arm"] == NON_PRIVATE)
    ]


def _looks(rows: pd.DataFrame) -> dict[str, tuple]:
    """Label, colour and marker of the conditions of the rows, in the order of CONDITIONS and then of the rows."""
    free = (
        look
        for look in zip(cycle(shared_panels.COLOURS), cycle(shared_panels.MARKERS), strict=False)
        if look not in CONDITIONS.values()
    )
    looks = shared_panels.present(CONDITIONS, rows["arm"])
    looks |= {name: next(free) for name in dict.fromkeys(rows["arm"]) if name not in CONDITIONS}
    return {name: (figure_style.plain(name), *look) for name, look in looks.items()}


def _lines(axes: Axes, rows: pd.DataFrame, looks: dict[str, tuple]) -> None:
    """Draw a line with intervals for each condition, shifted so that points at the same epsilon do not overlap."""
    octaves = np.log2(np.unique(rows["epsilon"]))
    step = 0.7 * np.diff(octaves).min(initial=1) / len(looks)
    for place, (name, look) in enumerate(looks.items()):
        points = shared_panels.single(rows[rows["arm"] == name], ["dataset", "arm", "epsilon"]).sort_values("epsilon")
        x = points["epsilon"] * 2 ** (step * (place - (len(looks) - 1) / 2))
        shared_panels.intervals(axes, x, points, look, alpha=0.4, line={"linewidth": 0.7})


def _named(epsilon: float) -> str:
    return f"\u03b5 = {epsilon:g}"
