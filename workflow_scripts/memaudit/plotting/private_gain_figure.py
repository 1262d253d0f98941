"""Figure of the share of the non-private gain that private methods keep, against the number of private records."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure

from memaudit.plotting import figure_style

LOWEST, HIGHEST = -0.3, 1.4  # of the axis: a share is no fraction, and wide intervals would hide the lines
COLOURS = (
    figure_style.BLUE, figure_style.SKY, figure_style.GREEN, figure_style.ORANGE, figure_style.PURPLE,
    figure_style.RED, figure_style.BLACK,
)  # fmt: skip
DASHED = ("dp_linear", "dp_sgd")


@dataclass(frozen=True)
class Line:
    """One method on one table. sizes: numbers of records; shares: (size, 3) estimate and ends of the interval, NaN
    for a line without a band."""

    method: str
    sizes: Sequence[int]
    shares: Sequence[Sequence[float]]


@figure_style.applied
def kept_shares(
    panels: Mapping[str, Mapping[str, Sequence[Line]]], demands: Mapping[str, Mapping[str, Sequence[float]]]
) -> Figure:
    """A row of panels for each epsilon, a column for each table; bands are 95 % intervals.

    panels: lines by table, by epsilon; demands: share demanded at each size of the first line, likewise.
    """
    tables = list(next(iter(panels.values())))
    figure, grid = figure_style.panels(len(panels), len(tables), width=11.0, height=2.1)
    methods: dict[str, str] = {}
    for (epsilon, by_table), row in zip(panels.items(), grid, strict=True):
        for (table, lines), axes in zip(by_table.items(), row, strict=True):
            for line in lines:
                colour = methods.setdefault(line.method, COLOURS[len(methods) % len(COLOURS)])
                share, low, high = np.array(line.shares, dtype=float).T
                dash = "--" if line.method in DASHED else "-"
                label = line.method if table == tables[0] and row is grid[0] else None
                axes.plot(line.sizes, share, color=colour, linestyle=dash, marker="o", markersize=2, label=label)
                axes.fill_between(line.sizes, low, high, color=colour, alpha=0.12, linewidth=0)
            axes.step(lines[0].sizes, demands[epsilon][table], color=figure_style.GREY, linestyle=":", where="post")
            axes.set(xscale="log", ylim=(LOWEST, HIGHEST))
            axes.set_xticks(lines[0].sizes, [f"{size / 1000:g}k" for size in lines[0].sizes])
            axes.minorticks_off()
            if row is grid[0]:
                axes.set_title(figure_style.plain(table))
            if row is grid[-1]:
                axes.set_xlabel("private records")
        row[0].set_ylabel(f"share kept, epsilon {epsilon}")
    figure.legend(loc="outside lower center", ncols=len(methods))
    return figure
