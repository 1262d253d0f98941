"""Figures of the truth behind predictions of memorization: records at both times, two definitions, Theorem 1.

Section and figure numbers: "Predicting memorization within Large Language Models fine-tuned for classification".
`predict_figures` has the others.
"""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from memaudit.plotting import figure_style, shared_panels

KINDS = {
    "natural": ("natural", figure_style.SKY, "o"),
    "mislabelled": ("mislabelled", figure_style.PURPLE, "s"),
    "canary": ("canary", figure_style.BLACK, "D"),
}
DENSITIES = {
    "given": ("true density, outliers known", figure_style.GREEN, "o"),
    "joint": ("true density", figure_style.BLUE, "s"),
    "estimated": ("estimator", figure_style.RED, "^"),
}
THEOREM = {"psmi_outliers": ("outliers", "-"), "psmi_rest": ("rest", ":")}
AXES = {
    "log-lira at the interruption": "log-LiRA at the interruption (nats)",
    "log-lira at the end": "log-LiRA at the end (nats)",
    "counterfactual memorization": "counterfactual memorization (logits)",
    "attack success": "share of models\nclassified correctly",
}
LIRA = (-10.0, 20.0)  # range of log-LiRA in nats; values beyond are drawn at its ends


@figure_style.applied
def early(table: pd.DataFrame) -> Figure:
    """Log-LiRA of the first target's training records at the interruption and at the end (Figure 2).

    table: rows of metrics "log-lira at the interruption" and "log-lira at the end" with keys case, record, kind, and of
    metric tpr, whose key tau is the threshold of the baseline (dashed).
    """
    names = ["log-lira at the interruption", "log-lira at the end"]
    taus = case_rows(table, "early", metric="tpr", predictor="lira", tau=None)
    figure, panels = _scatter(table, "early", names)
    for setting, axes in panels.items():
        for line in axes.get_lines():
            line.set_data(*(np.clip(values, *LIRA) for values in line.get_data()))
        axes.relim()
        axes.autoscale_view()
        for tau in taus.loc[taus["dataset"] == setting, "tau"]:
            axes.axvline(tau, **shared_panels.GREY, zorder=1)
            axes.axhline(tau, **shared_panels.GREY, zorder=1)
    threshold = Line2D([], [], **shared_panels.GREY, label="threshold of memorization")
    return shared_panels.legend(figure, KINDS, threshold, lines=False)


@figure_style.applied
def definitions(table: pd.DataFrame) -> Figure:
    """Global LiRA against counterfactual memorization for each record, and their rank correlation (Figure 7).

    table: rows of metrics "attack success" and "counterfactual memorization" with keys case, record, kind, and of
    metric spearman.
    """
    figure, panels = _scatter(table, "definitions", ["counterfactual memorization", "attack success"])
    correlations = case_rows(table, "definitions", metric="spearman").set_index("dataset")
    for setting, axes in panels.items():
        numbers = "{:.2f} [{:.2f}, {:.2f}]".format(*correlations.loc[setting, ["estimate", "low", "high"]])
        axes.set_title(f"{figure_style.plain(setting)}\n{numbers}")
    return shared_panels.legend(figure, KINDS, lines=False)


@figure_style.applied
def theorem(table: pd.DataFrame) -> Figure:
    """Mean PSMI of outliers and of the rest against class separation, a panel for each outlier rate (Theorem 1).

    table: rows of metrics psmi_outliers and psmi_rest with keys rate, separation, density.
    """
    rows = shared_panels.rows(table, "predict_theorem", "separation", metric=list(THEOREM), density=None)
    rates = sorted(rows["rate"].unique())
    figure, panels = shared_panels.panels_of(
        [f"{rate:.0%} outliers" for rate in rates], "separation", "mean PSMI (nats)"
    )
    for rate, axes in zip(rates, panels.values(), strict=True):
        for metric, (_, dash) in THEOREM.items():
            for name, (_, colour, marker) in DENSITIES.items():
                points = rows[(rows["rate"] == rate) & (rows["metric"] == metric) & (rows["density"] == name)]
                line = shared_panels.single(points, ["rate", "metric", "density", "separation"]).sort_values(
                    "separation"
                )
                axes.fill_between(line["separation"], line["low"], line["high"], color=colour, alpha=0.15, linewidth=0)
                axes.plot(line["separation"], line["estimate"], color=colour, marker=marker, linestyle=dash)
        axes.axhline(0, **shared_panels.GREY, zorder=1)
    groups = [Line2D([], [], color=figure_style.GREY, linestyle=dash, label=label) for label, dash in THEOREM.values()]
    return shared_panels.legend(figure, DENSITIES, *groups)


def case_rows(table: pd.DataFrame, figure: str, number: str = "", **keys: str | list[str] | None) -> pd.DataFrame:
    """Rows of `shared_panels.rows`, with the setting (`case`) in place of the data set."""
    rows = shared_panels.rows(table, f"predict_{figure}", number, case=None, **keys)
    return rows.drop(columns="dataset", errors="ignore").rename(columns={"case": "dataset"})


def _scatter(table: pd.DataFrame, figure: str, names: list[str]) -> tuple[Figure, dict[str, Axes]]:
    """A point for each record: one metric against another, a colour for each kind of record."""
    rows = case_rows(table, figure, metric=names, record=None, kind=None)
    points = rows.pivot(index=["dataset", "record", "kind"], columns="metric", values="estimate").reset_index()
    drawn, panels = shared_panels.panels_of(list(dict.fromkeys(rows["dataset"])), *map(AXES.get, names), height=2.0)
    for setting, axes in panels.items():
        for kind, (_, colour, marker) in KINDS.items():
            x, y = (points.loc[(points["dataset"] == setting) & (points["kind"] == kind), name] for name in names)
            axes.plot(x, y, marker=marker, color=colour, markersize=2.2, linestyle="", alpha=0.7)
    return drawn, panels
