"""Figure of the dose-response of fine-tuned in-context models, drawn from tidy results."""

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from memaudit.plotting import figure_style, shared_panels

SIGNALS = {
    "in-context loss": ("loss in the context of the fine-tuning", figure_style.RED, "o"),
    "loss": ("probe: loss", figure_style.BLUE, "s"),
    "entropy": ("probe: entropy", figure_style.SKY, "^"),
    "confidence": ("probe: confidence", figure_style.GREEN, "D"),
}
CHANCE = Line2D([], [], **shared_panels.GREY, label="chance")
DOTTED = {"color": figure_style.BLACK, "linestyle": ":", "linewidth": 1}
LIMIT = Line2D([], [], **DOTTED, label="smallest AUC that the probe's loss shows (power .9)")


@figure_style.applied
def doses(table: pd.DataFrame) -> Figure:
    """AUC of every signal against the epochs on the same records, a panel per data set and condition.

    table: rows of metrics "dose auc" and "smallest detectable auc" with keys dataset, arm, epoch, signal.
    """
    aucs = shared_panels.rows(table, "iclmem_doses", "epoch", metric="dose auc", signal=None)
    limits = shared_panels.rows(table, "iclmem_doses", "epoch", metric="smallest detectable auc", signal="loss")
    looks = shared_panels.present(SIGNALS, aucs["signal"])
    aucs, limits = (rows.assign(panel=rows["dataset"] + "\n" + rows["arm"]) for rows in (aucs, limits))
    figure, panels = shared_panels.panels_of(aucs["panel"].unique(), "dose: epochs on the same records", "AUC")
    for panel, axes in panels.items():
        points = shared_panels.single(aucs[aucs["panel"] == panel], ["signal", "epoch"])
        for place, (name, look) in enumerate(looks.items()):
            dots = points[points["signal"] == name].sort_values("epoch")
            x = shared_panels.beside(dots["epoch"], aucs["epoch"], place, len(looks))
            shared_panels.intervals(axes, x, dots, look, line={"linestyle": "-", "linewidth": 1})
        line = limits[limits["panel"] == panel].sort_values("epoch")
        axes.plot(line["epoch"], line["estimate"], **DOTTED)
        axes.axhline(0.5, **shared_panels.GREY, zorder=1)
        shared_panels.ticks(axes, points["epoch"], base=10, most=8, form=".3g")
    return shared_panels.legend(figure, looks, CHANCE, LIMIT)
