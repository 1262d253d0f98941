"""Parts that the figures of all studies share: selection of rows, panels, lines with bands, ROC curves, axes, legends.

Figures are drawn from tidy results after `tidy.expand`. A look is a tuple of label, colour and marker; a value has the
same look in all figures of a study. Dashed grey is guessing, dotted grey the null of the values. A figure raises
AuditError if it has no row, or two rows for one point; other missing rows, such as a condition that one data set lacks,
are left out.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import cycle
from math import ceil

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from memaudit.common.errors import AuditError
from memaudit.plotting import figure_style

Look = tuple[str, str, str]
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
    """The rows that have these values of their keys (None: any value), with the key `number` parsed.

    Raises AuditError if there is none.
    """
    chosen, conditions = table, keys | ({number: None} if number else {})
    for key, values in conditions.items():
        column = chosen[key] if key in chosen else pd.Series(np.nan, chosen.index)
        one_of = [values] if isinstance(values, str) else values
        chosen = chosen[column.notna() if values is None else column.isin(one_of)]
    if chosen.empty:
        missing = ", ".join(f"{key} {values or ''}".rstrip() for key, values in conditions.items())
        raise AuditError(f"figure {figure}: no row has {missing}; evaluate that, or widen `where`")
    return chosen.assign(**{number: pd.to_numeric(chosen[number])}) if number else chosen


def single(rows: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """The rows unchanged. Raises AuditError if two rows have the same keys."""
    if len(twice := rows[rows.duplicated(keys)]):
        point = ", ".join(f"{key} {twice.iloc[0][key]}" for key in keys)
        raise AuditError(f"a figure: two rows are for {point}; choose one with `where`")
    return rows


def looks(names: Iterable[Hashable]) -> dict[Hashable, Look]:
    """A look for each distinct name, labelled by the name."""
    styled = zip(dict.fromkeys(names), cycle(COLOURS), cycle(MARKERS), strict=False)
    return {name: (figure_style.plain(str(name)), colour, marker) for name, colour, marker in styled}


def present(looks: Mapping[str, tuple], names: Iterable[str]) -> dict[str, tuple]:
    """The looks of those names that occur, in the order of the looks."""
    occurring = set(names)
    return {name: look for name, look in looks.items() if name in occurring}


def unmarked(looks: Mapping[Hashable, Look]) -> dict[Hashable, Look]:
    """The same looks without markers."""
    return {name: (label, colour, "") for name, (label, colour, _) in looks.items()}


def rocs(rows: pd.DataFrame, key: str, looks: Mapping[str, tuple]) -> Figure:
    """ROC curves on logarithmic axes, a panel per data set, a line for each look of `key`.

    rows: of metric roc_tpr with keys dataset, fpr and `key`; points that the method calls interpolated are omitted.
    """
    figure, panels = panels_of(rows["dataset"].unique(), "FPR", "TPR", height=2.4)
    lowest = rows["fpr"][rows["fpr"] > 0].min()
    # A curve begins at the FPR of one non-member: to the left of that nothing was measured.
    measured = rows[~rows["method"].str.endswith("interpolated")]
    for dataset, axes in panels.items():
        lines(axes, measured[measured["dataset"] == dataset].assign(null=np.nan), "fpr", key, looks)
        axes.plot([lowest, 1], [lowest, 1], **GREY, zorder=1)
        axes.set(xscale="log", yscale="log", xlim=(lowest, 1), ylim=(lowest, 1.15))
    return legend(figure, looks, GUESSING)


def lines(axes: Axes, rows: pd.DataFrame, x: str, key: str, looks: Mapping[str, tuple]) -> None:
    """Draw a line with its band for each look of `key`, and beneath it the nulls."""
    for name, (_, colour, marker) in looks.items():
        line = single(rows[rows[key] == name], ["dataset", key, x]).sort_values(x)
        axes.fill_between(line[x], line["low"], line["high"], color=colour, alpha=0.15, linewidth=0)
        if len(line) == 1:  # the band of a single point has no width
            axes.vlines(line[x], line["low"], line["high"], color=colour, alpha=0.5, linewidth=1)
        axes.plot(line[x], line["estimate"], color=colour, marker=marker)
        axes.plot(line[x], line["null"], **DOTTED, zorder=1)


def intervals(axes: Axes, x: pd.Series, rows: pd.DataFrame, look: tuple, *, alpha: float = 0.5, line: dict) -> None:
    """Draw the estimates at x with vertical intervals; line: properties of the line that joins the estimates."""
    _, colour, marker = look
    axes.vlines(x, rows["low"], rows["high"], color=colour, alpha=alpha, linewidth=1)
    axes.plot(x, rows["estimate"], color=colour, marker=marker, **line)


def intervals_across(axes: Axes, rows: pd.DataFrame, y: pd.Series | np.ndarray, look: tuple) -> None:
    """Draw the estimates at heights y with horizontal intervals."""
    _, colour, marker = look
    axes.hlines(y, rows["low"], rows["high"], color=colour, alpha=0.5, linewidth=1)
    axes.plot(rows["estimate"], y, color=colour, marker=marker, linestyle="")


def dots(axes: Axes, rows: pd.DataFrame, what: str, names: Sequence[str], key: str, looks: Mapping[str, tuple]) -> None:
    """Draw estimates with horizontal intervals: rows for the names of `what`, the first at the bottom, a dot per look.

    looks: by value of `key`; in a row, the first is at the top.
    """
    for place, (name, look) in enumerate(looks.items()):
        chosen = rows[rows[key] == name]
        below = 0.7 * (place - (len(looks) - 1) / 2) / len(looks)
        intervals_across(axes, chosen, np.array([names.index(value) for value in chosen[what]]) - below, look)
    first = axes.get_subplotspec().is_first_col()
    axes.set_yticks(range(len(names)), [figure_style.plain(name) if first else "" for name in names])
    axes.set_ylim(-0.6, len(names) - 0.4)


def ticks(axes: Axes, values: Iterable[float], base: int | None = None, most: int = 0, form: str = "g") -> None:
    """Put ticks at the values themselves, on a logarithmic axis if it has a base.

    most: ticks closer to each other than the axis' range over this number are left out (0: none); form: of the labels.
    """
    values = np.unique(np.asarray(values, dtype=float))
    if base:
        axes.set_xscale("log", base=base)
    places = np.log2(values) if base else values
    gap = np.ptp(places) / most if most else 0
    kept = values[np.diff(places, prepend=-np.inf) >= gap]
    axes.set_xticks(kept, [format(value, form) for value in kept])
    axes.minorticks_off()


def beside(values: pd.Series, among: pd.Series, place: int, count: int) -> pd.Series:
    """Values of one of `count` series, shifted on a logarithmic axis so that the series do not overlap."""
    return values * np.exp(_step(among) * (place - (count - 1) / 2))


def around(among: pd.Series, count: int) -> tuple[float, float]:
    """Limits of an axis on which `count` series of these values stand beside each other, with a margin."""
    room = np.exp(_step(among) * (count + 1) / 2)
    return among.min() / room, among.max() * room


def _step(among: pd.Series) -> float:
    return 0.02 * (np.ptp(np.log(among)) or 1)


def panels_of(
    datasets: Sequence[str], x: str, y: str, height: float = 2.2, most: int = 4
) -> tuple[Figure, dict[str, Axes]]:
    """A figure with a titled panel for each data set, at most `most` beside each other; x, y: labels of all axes."""
    count = ceil(len(datasets) / most)
    figure, grid = figure_style.panels(count, ceil(len(datasets) / count), width=width(datasets), height=height)
    panels = [axes for line in grid for axes in line]
    for axes in panels[len(datasets) :]:
        axes.remove()
    for dataset, axes in zip(datasets, panels, strict=False):
        axes.set(title=figure_style.plain(dataset), ylabel=y if axes.get_subplotspec().is_first_col() else "")
    figure.supxlabel(x, fontsize=figure_style.RC["axes.labelsize"])
    return figure, dict(zip(datasets, panels, strict=False))


def legend(figure: Figure, looks: Mapping[str, tuple], *others: Line2D, lines: bool = True) -> Figure:
    """The figure with a legend above its panels, in as many columns as fit; it grows by the further lines.

    others: handles after those of the looks; lines: whether the looks are shown with a line through the marker.
    """
    dash = "-" if lines else ""
    handles = [Line2D([], [], color=c, marker=m, label=label, linestyle=dash) for label, c, m in looks.values()]
    return legend_above(figure, [*handles, *others])


def legend_above(figure: Figure, handles: Sequence[Line2D]) -> Figure:
    """The figure with a legend of these handles above its panels, in as many columns as fit; it grows as `legend`."""
    widest = max((len(handle.get_label()) for handle in handles), default=0)
    columns = max(1, min(len(handles), int(figure.get_figwidth() / (0.055 * widest + 0.5))))  # inches of a letter, gaps
    figure.legend(handles=handles, loc="outside upper center", ncols=columns)
    figure.set_figheight(figure.get_figheight() + 0.15 * (ceil(len(handles) / columns) - 1))
    return figure


def width(panels: Sequence) -> float:
    """Width in inches of a figure with these panels beside each other."""
    return figure_style.ONE_COLUMN if len(panels) == 1 else figure_style.TWO_COLUMNS
