"""Figure of time and memory against the size of a table, as measured by workflow_scripts/bench/scale_engine.py."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from memaudit.plotting import figure_style

# key of the measurement: label of its axis, colour, marker
QUANTITIES = {
    "seconds": ("CPU seconds", figure_style.BLUE, "o"),
    "peak_mib": ("peak memory (MiB)", figure_style.RED, "s"),
}
PARTS = {"engine": "TabICL", "evaluation": "evaluation"}


@figure_style.applied
def scaling(bench: Mapping[str, Any]) -> Figure:
    """A column per axis, time above memory, both logarithmic; dashed: the slope fitted to the upper half of the points.

    bench: results/bench/scale_engine.json.
    """
    measured = bench["axes"]
    figure, grid = figure_style.panels(len(QUANTITIES), len(measured), width=9.6, height=1.7)
    for (key, (label, colour, marker)), line in zip(QUANTITIES.items(), grid, strict=True):
        for one, axes in zip(measured, line, strict=True):
            sizes, values = np.array(one["sizes"]), np.array(one[key])
            axes.plot(sizes, values, color=colour, marker=marker, linestyle="")
            upper, slope = sizes[len(sizes) // 2 - 1 + len(sizes) % 2 :], one["slopes"][key]
            centre = np.exp(np.log(values[-len(upper) :]).mean() - slope * np.log(upper).mean())
            axes.plot(upper, centre * upper**slope, color=figure_style.GREY, linestyle="--", linewidth=0.9, zorder=1)
            axes.set(xscale="log", yscale="log")
            axes.annotate(f"slope {slope:.2f}", (0.05, 0.9), xycoords="axes fraction", fontsize=6.5)
            if line is grid[0]:
                axes.set_title(f"{PARTS[one['part']]}: {one['axis']}")
            else:
                axes.set_xlabel(one["axis"])
        line[0].set_ylabel(label)
    return figure
