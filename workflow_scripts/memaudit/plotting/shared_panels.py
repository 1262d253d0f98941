"""What figures of several studies share: their rows, panels of data sets, lines with bands, ROC curves, a legend.

Dashed grey: guessing; dotted grey: the null that comes with the values. A look: label, colour, marker.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import cycle
from math import ceil

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from memaudit.errors import AuditError
from memaudit.plotting import figure_style

COLOURS = (
    figure_style.BLUE,
    figure_style.RED,
    figure_style.GREEN,
    figure_style.ORANGE,
    figure_style.PURPLE,
    figure_style.SKY,
    figure_style.BLACK,
)
MARKERS = ("o", "s", "^", "D", "v", "P")
GREY = {"color": figure_style.GREY, "linewidth": 0.7, "linestyle": "--"}
DOTTED = GREY | {"linestyle": ":", "linewidth": 0.9}
GUESSING, NULL = Line2D([], [], **GREY, label="guessing"), Line2D([], [], **DOTTED, label="null")


def rows(table: pd.DataFrame, figure: str, number: str = "", **keys: str | list[str] | None) -> pd.DataFrame:
    """The rows whose keys are as given (None: any) and that have the key `number`, parsed; AuditError for none."""
    found, wanted = table, keys | ({number: None} if number else {})
    for key, values in wanted.items():
        known = found[key] if key in found else pd.Series(np.nan, found.index)
        found = found[known.notna() if values is None else known.isin([values] if isinstance(values, str) else values)]
    if found.empty:
        told = ", ".join(f"{key} {values or ''}".rstrip() for key, values in wanted.items())
        raise AuditError(f"figure {figure}: no row has {told}; evaluate that, or widen `where`")
    return found.assign(**{number: pd.to_numeric(found[number])}) if number else found


def single(rows: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """The rows, or AuditError where two are for one point."""
    if len(twice := rows[rows.duplicated(keys)]):
        point = ", ".join(f"{key} {twice.iloc[0][key]}" for key in keys)
        raise AuditError(f"a figure: two rows are for {point}; choose one with `where`")
    return rows


def looks(names: Iterable) -> dict[str, tuple]:
    """A look for each name."""
    found = zip(dict.fromkeys(names), cycle(COLOURS), cycle(MARKERS), strict=False)
    return {name: (figure_style.plain(str(name)), colour, marker) for name, colour, marker in found}


def rocs(rows: pd.DataFrame, key: str, looks: Mapping[str, tuple]) -> Figure:
    """ROC curves, a panel per data set, a line for each look of `key`.

    rows: of metric roc_tpr with keys dataset, fpr and `key`; what the method calls interpolated is left out.
    """
    figure, panels = panels_of(rows["dataset"].unique(), "FPR", "TPR", height=2.4)
    lowest = rows["fpr"][rows["fpr"] > 0].min()
    # A curve begins where one non-member is passed: to the left of that nothing was measured.
    measured = rows[~rows["method"].str.endswith("interpolated")]
    for dataset, axes in panels.items():
        lines(axes, measured[measured["dataset"] == dataset].assign(null=np.nan), "fpr", key, looks)
        axes.plot([lowest, 1], [lowest, 1], **GREY, zorder=1)
        axes.set(xscale="log", yscale="log", xlim=(lowest, 1), ylim=(lowest, 1.15))
    return legend(figure, looks, GUESSING)


def lines(axes: Axes, rows: pd.DataFrame, x: str, key: str, looks: Mapping[str, tuple]) -> None:
    """A line with its band for each look of `key`; beneath, the nulls."""
    for name, (_, colour, marker) in looks.items():
        line = single(rows[rows[key] == name], ["dataset", key, x]).sort_values(x)
        axes.fill_between(line[x], line["low"], line["high"], color=colour, alpha=0.15, linewidth=0)
        if len(line) == 1:  # its band has no width
            axes.vlines(line[x], line["low"], line["high"], color=colour, alpha=0.5, linewidth=1)
        axes.plot(line[x], line["estimate"], color=colour, marker=marker)
        axes.plot(line[x], line["null"], **DOTTED, zorder=1)


def panels_of(datasets: Sequence[str], x: str, y: str, height: float = 2.2) -> tuple[Figure, dict[str, Axes]]:
    """A panel for each data set, at most four beside each other, and the labels of all their axes."""
    count = ceil(len(datasets) / 4)
    figure, grid = figure_style.panels(count, ceil(len(datasets) / count), width=width(datasets), height=height)
    cells = [axes for line in grid for axes in line]
    for axes in cells[len(datasets) :]:
        axes.remove()
    for dataset, axes in zip(datasets, cells, strict=False):
        axes.set(title=figure_style.plain(dataset), ylabel=y if axes.get_subplotspec().is_first_col() else "")
    figure.supxlabel(x, fontsize=figure_style.RC["axes.labelsize"])
    return figure, dict(zip(datasets, cells, strict=False))


def legend(figure: Figure, looks: Mapping[str, tuple], *others: Line2D, lines: bool = True) -> Figure:
    """Above the panels, in as many columns as there is room for; the figure grows by its further lines."""
    dash = "-" if lines else ""
    handles = [Line2D([], [], color=c, marker=m, label=label, linestyle=dash) for label, c, m in looks.values()]
    handles += others
    widest = max((len(handle.get_label()) for handle in handles), default=0)
    columns = max(1, min(len(handles), int(figure.get_figwidth() / (0.055 * widest + 0.5))))  # inches of a letter, gaps
    figure.legend(handles=handles, loc="outside upper center", ncols=columns)
    figure.set_figheight(figure.get_figheight() + 0.15 * (ceil(len(handles) / columns) - 1))
    return figure


def width(panels: Sequence) -> float:
    """Inches that a figure of so many panels has."""
    return figure_style.ONE_COLUMN if len(panels) == 1 else figure_style.TWO_COLUMNS
