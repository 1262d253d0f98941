"""How time and memory grow with the size of a table: what bench_scale_engine.py measured."""

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
    """A column per axis, time above memory, both logarithmic; dashed: the slope fitted to the upper half, as named.

    bench: results/bench/scale_engine.json.
    """
    axes_found = bench["axes"]
    figure, grid = figure_style.panels(len(QUANTITIES), len(axes_found), width=9.6, height=1.7)
    for (key, (label, colour, marker)), line in zip(QUANTITIES.items(), grid, strict=True):
        for found, axes in zip(axes_found, line, strict=True):
            sizes, values = np.array(found["sizes"]), np.array(found[key])
            axes.plot(sizes, values, color=colour, marker=marker, linestyle="")
            upper, slope = sizes[len(sizes) // 2 - 1 + len(sizes) % 2 :], found["slopes"][key]
            centre = np.exp(np.log(values[-len(upper) :]).mean() - slope * np.log(upper).mean())
            axes.plot(upper, centre * upper**slope, color=figure_style.GREY, linestyle="--", linewidth=0.9, zorder=1)
            axes.set(xscale="log", yscale="log")
            axes.annotate(f"slope {slope:.2f}", (0.05, 0.9), xycoords="axes fraction", fontsize=6.5)
            if line is grid[0]:
                axes.set_title(f"{PARTS[found['part']]}: {found['axis']}")
            else:
                axes.set_xlabel(found["axis"])
        line[0].set_ylabel(label)
    return figure
