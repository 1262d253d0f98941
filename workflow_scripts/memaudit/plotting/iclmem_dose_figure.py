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
AXES = {
    "epochs": "epochs on the same records",
    "learning_rate": "learning rate",
    "queries": "queries Q of a step",
    "copies": "copies of a member in a step",
    "trained_weights": "weights that learn",
}


@figure_style.applied
def doses(table: pd.DataFrame) -> Figure:
    """AUC of every signal against the dose, a panel per data set, axis, and condition where the axis is its epochs.

    table: rows of metrics "dose auc" and "smallest detectable dose auc" with keys dataset, arm, axis, dose, signal.
    """
    aucs = shared_panels.rows(table, "iclmem_doses", "dose", metric="dose auc", signal=None)
    limits = shared_panels.rows(table, "iclmem_doses", "dose", metric="smallest detectable dose auc", signal="loss")
    looks = shared_panels.present(SIGNALS, aucs["signal"])
    aucs, limits = (rows.assign(panel=rows["dataset"] + "\n" + _condition(rows)) for rows in (aucs, limits))
    figure, panels = shared_panels.panels_of(aucs["panel"].unique(), "", "AUC", most=3)  # titles are long
    for panel, axes in panels.items():
        points = shared_panels.single(aucs[aucs["panel"] == panel], ["signal", "dose"])
        axes.set_xlabel(AXES[points["axis"].iloc[0]])
        for place, (name, look) in enumerate(looks.items()):
            dots = points[points["signal"] == name].sort_values("dose")
            x = shared_panels.beside(dots["dose"], points["dose"], place, len(looks))
            shared_panels.intervals(axes, x, dots, look, line={"linestyle": "-", "linewidth": 1})
        line = limits[limits["panel"] == panel].sort_values("dose")
        axes.plot(line["dose"], line["estimate"], **DOTTED)
        axes.axhline(0.5, **shared_panels.GREY, zorder=1)
        shared_panels.ticks(axes, points["dose"], base=10, most=8, form=".3g")
    return shared_panels.legend(figure, looks, CHANCE, LIMIT)


def _condition(rows: pd.DataFrame) -> pd.Series:
    """The condition whose epochs are the dose, or the labels of the conditions that the axis compares."""
    labels = rows["labels"].astype(str) + ", " + rows["axis"].str.replace("_", " ")
    return rows["arm"].where(rows["axis"] == "epochs", labels) if "arm" in rows else labels
