"""Figures of the study of predicting memorization, drawn from tidy results, with a panel for each setting (`case`).

Section and figure numbers: "Predicting memorization within LLMs fine-tuned for classification". The baseline is LiRA on
the partly trained model.
"""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from memaudit.plotting import figure_style, predict_truth_figures, shared_panels
from memaudit.plotting.predict_truth_figures import case_rows

# predictor: label, colour, marker, in the order of the legend
PREDICTORS = {
    "psmi": ("PSMI", figure_style.BLUE, "o"),
    "loss": ("loss", figure_style.RED, "s"),
    "logit_gap": ("logit gap", figure_style.GREEN, "^"),
    "mahalanobis": ("Mahalanobis", figure_style.ORANGE, "D"),
    "lira": ("baseline (early LiRA)", figure_style.BLACK, "v"),
    "psmi_untrained": ("PSMI, untrained network", figure_style.SKY, "<"),
    "psmi_inputs": ("PSMI of the inputs", figure_style.PURPLE, ">"),
}
OUTCOMES = {"memorized": ("memorized at the end", figure_style.RED, "o"), "others": ("others", figure_style.BLUE, "s")}
RULES = ["first", "closest"]  # the interruption rule of a setting; the other rule is called `... instead`
LATER = "at 60 % of training"
early, definitions = predict_truth_figures.early, predict_truth_figures.definitions
theorem = predict_truth_figures.theorem


@figure_style.applied
def roc(table: pd.DataFrame) -> Figure:
    """TPR against FPR of every predictor at the interruption (Figures 3, left, 6, left, and 8).

    table: rows of metric roc_tpr with keys case, truth, rule, predictor, fpr; this figure has truth `memorized`.
    """
    return _rocs(case_rows(table, "roc", "fpr", metric="roc_tpr", truth="memorized", rule=RULES, predictor=None))


@figure_style.applied
def roc_later(table: pd.DataFrame) -> Figure:
    """The same at 60 % of training, when it is too late for mitigation (Figure 8, third line).

    table: as in `roc`.
    """
    return _rocs(case_rows(table, "roc_later", "fpr", metric="roc_tpr", truth="memorized", rule=LATER, predictor=None))


@figure_style.applied
def planted(table: pd.DataFrame) -> Figure:
    """ROC curves of every predictor for planted records, canaries and wrong labels (Figure 6, centre).

    table: as in `roc`, with truths canary and mislabelled.
    """
    names = {"canary": "canaries", "mislabelled": "wrong labels"}
    rows = case_rows(table, "planted", "fpr", metric="roc_tpr", truth=list(names), rule=RULES, predictor=None)
    named = rows["truth"].map(names)
    return _rocs(rows.assign(dataset=rows["dataset"] + ": " + named))


@figure_style.applied
def auc(table: pd.DataFrame) -> Figure:
    """AUC of every predictor at the interruption, by setting (Figure 3, centre).

    table: rows of metric auc with keys case, truth, records, rule, predictor.
    """
    rows = case_rows(table, "auc", metric="auc", truth="memorized", records="natural", rule=RULES, predictor=None)
    shared_panels.single(rows, ["dataset", "predictor"])
    settings, looks = list(dict.fromkeys(rows["dataset"]))[::-1], _predictors(rows)
    height = 0.11 * len(looks) * len(settings) + 0.6
    figure, [[axes]] = figure_style.panels(1, 1, width=figure_style.ONE_COLUMN * 1.4, height=height)
    shared_panels.dots(axes, rows, "dataset", settings, "predictor", looks)
    axes.axvline(0.5, **shared_panels.GREY, zorder=1)
    axes.set_xlabel("AUC")
    axes.grid(visible=False, axis="y")
    return shared_panels.legend(figure, looks, shared_panels.GUESSING, lines=False)


@figure_style.applied
def threshold(table: pd.DataFrame) -> Figure:
    """TPR and FPR of PSMI at most 0, and of the baseline at its threshold (Figure 3, right).

    table: rows of metrics tpr and fpr with keys case, predictor, tau. A colour for each setting; hollow: the baseline.
    """
    rows = case_rows(table, "threshold", metric=["tpr", "fpr"], predictor=["psmi", "lira"], tau=None)
    rows = rows[rows.get("profile", pd.Series(np.nan, rows.index)).isna()]
    points = rows.pivot(index=["dataset", "predictor"], columns="metric", values=["estimate", "low", "high"])
    looks = shared_panels.looks(dict.fromkeys(rows["dataset"]))
    figure, [[axes]] = figure_style.panels(1, 1, width=figure_style.ONE_COLUMN, height=2.8)
    for (setting, predictor), point in points.iterrows():
        _, colour, marker = looks[setting]
        (fpr, tpr), low, high = (point[part][["fpr", "tpr"]].to_numpy() for part in ("estimate", "low", "high"))
        axes.hlines(tpr, low[0], high[0], color=colour, alpha=0.4, linewidth=1)
        axes.vlines(fpr, low[1], high[1], color=colour, alpha=0.4, linewidth=1)
        face = colour if predictor == "psmi" else "white"
        axes.plot(fpr, tpr, color=colour, marker=marker, markersize=4.5, markerfacecolor=face, linestyle="")
    axes.plot([0, 1], [0, 1], **shared_panels.GREY, zorder=1)
    right = max(0.2, 1.1 * rows.loc[rows["metric"] == "fpr", "high"].max())
    axes.set(xlabel="FPR", ylabel="TPR", xlim=(-0.02 * right, right), ylim=(-0.02, 1.02))
    dot = {"color": figure_style.GREY, "marker": "o", "linestyle": ""}
    hollow = Line2D([], [], **dot, markerfacecolor="white", label="early LiRA")
    return shared_panels.legend(figure, looks, Line2D([], [], **dot, label="PSMI at most 0"), hollow, lines=False)


@figure_style.applied
def timing(table: pd.DataFrame) -> Figure:
    """AUC of a prediction at each checkpoint, mean PSMI, and the share memorized by then (Figures 4 and 9).

    table: rows with keys case and epoch, of metrics auc (by predictor), psmi and "already memorized" (by cells), and
    interruption (by rule). Vertical line: mean epoch of the interruption by the rule of the setting.
    """
    areas = case_rows(table, "timing", "epoch", metric="auc", predictor=None)
    groups = case_rows(table, "timing", "epoch", metric=["psmi", "already memorized"], cells=None).assign(null=np.nan)
    stops = case_rows(table, "timing", metric="interruption", rule=RULES)
    settings, looks = list(dict.fromkeys(areas["dataset"])), _predictors(areas)
    figure, grid = figure_style.panels(3, len(settings), height=1.7)
    for setting, column in zip(settings, zip(*grid, strict=True), strict=True):
        of_setting = groups[groups["dataset"] == setting]
        shared_panels.lines(column[0], areas[areas["dataset"] == setting], "epoch", "predictor", looks)
        for axes, metric in zip(column[1:], ("psmi", "already memorized"), strict=True):
            shared_panels.lines(axes, of_setting[of_setting["metric"] == metric], "epoch", "cells", OUTCOMES)
        column[0].set_title(figure_style.plain(setting))
        for axes in column:
            for stop in stops.loc[stops["dataset"] == setting, "estimate"]:
                axes.axvline(stop, color=figure_style.GREY, linewidth=0.9)
            # A square-root axis gives room to the early checkpoints.
            axes.set_xscale("function", functions=(lambda x: np.sqrt(np.maximum(x, 0)), np.square))
            axes.set_xlim(left=0)
            axes.set_xticks(_spread(areas.loc[areas["dataset"] == setting, "epoch"]))
        column[1].axhline(0, **shared_panels.GREY, zorder=1)
    for axes, label in zip(grid, ("AUC", "mean PSMI (nats)", "share memorized so far"), strict=True):
        axes[0].set_ylabel(label)
    figure.supxlabel("epoch", fontsize=figure_style.RC["axes.labelsize"])
    return shared_panels.legend(figure, looks | OUTCOMES, shared_panels.GUESSING)


@figure_style.applied
def layers(table: pd.DataFrame) -> Figure:
    """AUC at the interruption against the layer of the hidden states (Figure 5, left and centre).

    table: rows of metric auc with keys case, layer, predictor.
    """
    rows = case_rows(table, "layers", "layer", metric="auc", predictor=None)
    figure, panels = shared_panels.panels_of(rows["dataset"].unique(), "layer", "AUC", height=1.9)
    looks = _predictors(rows)
    for setting, axes in panels.items():
        panel = rows[rows["dataset"] == setting]
        shared_panels.lines(axes, panel, "layer", "predictor", looks)
        axes.set_xticks(_spread(panel["layer"], apart=0.08))
    return shared_panels.legend(figure, looks, shared_panels.NULL)


@figure_style.applied
def lira_threshold(table: pd.DataFrame) -> Figure:
    """AUC and memorized share against the log-LiRA threshold of memorization (Figures 5, right, 10 and 11).

    table: rows with keys case and threshold, of metrics auc (by predictor) and memorized. Without a memorized record
    there is no AUC.
    """
    areas = case_rows(table, "lira_threshold", "threshold", metric="auc", predictor=None)
    shares = case_rows(table, "lira_threshold", "threshold", metric="memorized", records="natural").assign(of="members")
    settings, looks = list(dict.fromkeys(areas["dataset"])), _predictors(areas)
    figure, grid = figure_style.panels(2, len(settings), height=1.7)
    share = {"members": ("share that is memorized", figure_style.PURPLE, "P")}
    for setting, above, below in zip(settings, *grid, strict=True):
        shared_panels.lines(
            above, areas[areas["dataset"] == setting].dropna(subset="estimate"), "threshold", "predictor", looks
        )
        shared_panels.lines(below, shares[shares["dataset"] == setting], "threshold", "of", share)
        above.set_title(figure_style.plain(setting))
        below.set_ylim(bottom=0)
    grid[0][0].set_ylabel("AUC")
    grid[1][0].set_ylabel("share")
    figure.supxlabel("threshold of memorization: log-LiRA (nats)", fontsize=figure_style.RC["axes.labelsize"])
    return shared_panels.legend(figure, looks | share, shared_panels.NULL)


def _predictors(rows: pd.DataFrame) -> dict[str, tuple]:
    """Looks of the predictors of the rows."""
    return shared_panels.present(PREDICTORS, rows["predictor"])


def _rocs(rows: pd.DataFrame) -> Figure:
    """ROC curves on linear axes, which show the high TPRs that matter here (Section 5.1)."""
    figure, panels = shared_panels.panels_of(list(dict.fromkeys(rows["dataset"])), "FPR", "TPR", height=1.9)
    looks = shared_panels.unmarked(_predictors(rows))
    for setting, axes in panels.items():
        panel = rows[(rows["dataset"] == setting) & ~rows["method"].str.endswith("interpolated")]
        shared_panels.lines(axes, panel.assign(null=np.nan), "fpr", "predictor", looks)
        axes.plot([0, 1], [0, 1], **shared_panels.GREY, zorder=1)
        axes.set(xlim=(0, 1), ylim=(0, 1.02))
    return shared_panels.legend(figure, looks, shared_panels.GUESSING)


def _spread(values: pd.Series, apart: float = 0.15) -> list[float]:
    """Whole values for ticks of a square-root axis, at least the share `apart` of its range from each other."""
    whole, kept = sorted({value for value in values if value == round(value)}, reverse=True), []
    for value in whole:
        if not kept or np.sqrt(kept[-1]) - np.sqrt(value) >= apart * np.sqrt(whole[0]):
            kept.append(value)
    return kept[::-1]
