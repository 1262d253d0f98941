"""Figures of the study of LiRA's reliability (Jälkö et al. 2026), drawn from tidy results after `tidy.expand`."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from memaudit.plotting import figure_style, shared_panels

ABOVE_LABELS = 11  # points: room for the labels of vertical lines between a panel and its title
Look = tuple[str, str, Any, str]
Looks = Mapping[str, Look]
# strategy: label, colour, line style, marker, in the order of the legend
STRATEGIES = {
    "naive": ("concatenated, naive", figure_style.RED, "-", "o"),
    "pp": ("concatenated, PP", figure_style.BLUE, "-", "s"),
    "pp_normal": ("PP, normal", figure_style.SKY, "-", "^"),
    "pp_t": ("PP, Student's t", figure_style.GREEN, "-", "v"),
    "pp_exact": ("PP, exact", figure_style.PURPLE, "-", "P"),
    "per_sample": ("per sample", figure_style.BLACK, "--", "D"),
    "per_sample_crossfit": ("per sample, cross-fitted", figure_style.BLACK, "-", "*"),
    "per_sample_normal": ("per sample, normal", figure_style.ORANGE, (0, (1, 1.2)), "x"),
}
# ROC curves of strategies, and of the record that other models predict to be the most vulnerable.
CURVES = STRATEGIES | {"best_record": ("best record, Clopper-Pearson", figure_style.PURPLE, ":", "*")}

# score: as above, by its name in the results
SCORES = {
    "lira mean": ("LiRA", figure_style.RED, "-", "o"),
    "lira fixed variance": ("LiRA, one variance", figure_style.ORANGE, "-", "s"),
    "lira shrunk variance": ("LiRA, shrunken variances", figure_style.SKY, "-", "^"),
    "lira shared variance": ("LiRA, shared shrunken variance", figure_style.BLUE, "-", "v"),
    "rmia": ("RMIA", figure_style.GREEN, "-", "D"),
    "rmia offline": ("RMIA offline, a as configured", figure_style.GREEN, (0, (1, 1.2)), "x"),
    "rmia offline estimated": ("RMIA offline, a estimated", figure_style.GREEN, "--", "P"),
    "combined": ("combined", figure_style.BLACK, "-", "*"),
}

# by metric and correction of a row of the check of the finite population correction: legend, colour, marker
POPULATION = {
    "predicted_tpr false": ("TPR predicted from a small superset", figure_style.RED, "s"),
    "predicted_tpr true": ("predicted TPR, corrected", figure_style.BLUE, "D"),
    "measured_tpr measured": ("TPR on fresh draws", figure_style.BLACK, "o"),
    "measured_fpr measured": ("FPR on fresh draws", figure_style.GREY, "x"),
}


@figure_style.applied
def strategies(table: pd.DataFrame, access: str = "efficient", metric: str = "tpr") -> Figure:
    """TPR against the number of models M, a row per data set, a column per FPR (Figure 1; A1 with oracle access).

    table: rows of the metric with keys dataset, models, fpr, strategy, access; bands from low and high. Dotted lines
    mark the smallest M for a per-record threshold: 1/FPR in the paper's code, 2/FPR in its text.
    """
    rows = table[(table["metric"] == metric) & (table["access"] == access)]
    datasets, fprs = rows["dataset"].unique(), sorted(rows["fpr"].unique(), reverse=True)
    figure, grid = figure_style.panels(len(datasets), len(fprs))
    for dataset, line in zip(datasets, grid, strict=True):
        for fpr, axes in zip(fprs, line, strict=True):
            panel = rows[(rows["dataset"] == dataset) & (rows["fpr"] == fpr)]
            _per_models(axes, panel, "strategy", STRATEGIES)
            _log2_axis(axes, rows["models"].unique())
            axes.axhline(fpr, **shared_panels.GREY, zorder=1)
            for times, side in ((1, "right"), (2, "left")):
                if panel["models"].min() < times / fpr < panel["models"].max():
                    figure_style.reference(axes, times / fpr, f"{times}/FPR", dash=":", side=side)
            axes.set_ylim(bottom=0)
    for fpr, axes in zip(fprs, grid[0], strict=True):
        axes.set_title(f"FPR = {fpr:g}", pad=ABOVE_LABELS)
    _outer_labels(grid, datasets, "models M", "TPR")
    _legend(figure, STRATEGIES, rows["strategy"].unique(), shared_panels.GUESSING)
    return figure


@figure_style.applied
def nulls(table: pd.DataFrame) -> Figure:
    """`strategies` without a leak: TPR where membership is redrawn, rows of metric null_tpr."""
    return strategies(table, metric="null_tpr")


@figure_style.applied
def scores(table: pd.DataFrame) -> Figure:
    """AUC, and TPR at each FPR of at most 1 %, against the number of models M, a row per data set.

    table: rows of metrics auc and tpr@FPR with keys dataset, models, attack; bands from low and high.
    """
    rates = {metric: float(metric[4:]) for metric in table["metric"].unique() if re.fullmatch(r"tpr@[\d.e-]+", metric)}
    few = [metric for metric, fpr in rates.items() if fpr <= 0.01]
    chance = {"auc": 0.5} | {metric: rates[metric] for metric in few}
    rows = table[table["attack"].isin(SCORES)]
    datasets = rows["dataset"].unique()
    figure, grid = figure_style.panels(len(datasets), len(chance))
    for dataset, line in zip(datasets, grid, strict=True):
        for (metric, guessing), axes in zip(chance.items(), line, strict=True):
            panel = rows[(rows["dataset"] == dataset) & (rows["metric"] == metric)]
            _per_models(axes, panel, "attack", SCORES)
            _log2_axis(axes, rows["models"].unique())
            axes.axhline(guessing, **shared_panels.GREY, zorder=1)
    for metric, axes in zip(chance, grid[0], strict=True):
        axes.set_title("AUC" if metric == "auc" else f"TPR at FPR {rates[metric]:g}")
    _outer_labels(grid, datasets, "models M", "")
    _legend(figure, SCORES, rows["attack"].unique(), shared_panels.GUESSING)
    return figure


@figure_style.applied
def oracle(table: pd.DataFrame) -> Figure:
    """`strategies` with oracle access (Figure A1)."""
    return strategies(table, "oracle")


@figure_style.applied
def sample_fpr(table: pd.DataFrame) -> Figure:
    """Share of records whose FPR is at least x, a row per data set, a column per target FPR (grey line; Figure A2).

    table: one row per record with columns dataset, strategy, fpr (target) and sample_fpr (realised over the models that
    do not have the record). Logarithmic axes cannot show an FPR of 0: a curve starts at the share of the other records.
    """
    datasets, fprs = table["dataset"].unique(), sorted(table["fpr"].unique(), reverse=True)
    figure, grid = figure_style.panels(len(datasets), len(fprs))
    for dataset, line in zip(datasets, grid, strict=True):
        for fpr, axes in zip(fprs, line, strict=True):
            panel = table[(table["dataset"] == dataset) & (table["fpr"] == fpr)]
            for strategy, (_, colour, dash, _) in shared_panels.present(STRATEGIES, panel["strategy"]).items():
                values = np.sort(panel.loc[panel["strategy"] == strategy, "sample_fpr"].to_numpy())
                share = 1 - np.arange(len(values)) / len(values)
                axes.step(values, share, color=colour, linestyle=dash, where="pre")
            figure_style.reference(axes, fpr, "target")
            axes.set(xscale="log", yscale="log", xlim=(fpr / 20, min(1, fpr * 30)), ylim=(share[-1] / 2, 1.3))
            axes.set_title(f"target FPR = {fpr:g}" if line is grid[0] else "", pad=ABOVE_LABELS)
    _outer_labels(grid, datasets, "FPR of a record", "share of records at or above")
    _legend(figure, STRATEGIES, table["strategy"].unique(), markers=False)
    return figure


@figure_style.applied
def roc(table: pd.DataFrame) -> Figure:
    """ROC curves on logarithmic axes, a panel per data set.

    table: rows of metric roc_tpr with keys dataset, strategy, fpr; bands from low and high; grey: TPR = FPR.
    """
    rows = table[table["metric"] == "roc_tpr"]
    datasets = rows["dataset"].unique()
    figure, grid = figure_style.panels(1, len(datasets), width=shared_panels.width(datasets), height=2.4)
    for dataset, axes in zip(datasets, grid[0], strict=True):
        panel = rows[rows["dataset"] == dataset]
        lowest = panel["fpr"].min()
        axes.plot([lowest, 1], [lowest, 1], color=figure_style.GREY, linewidth=0.7, linestyle="--", zorder=1)
        for strategy, curve in panel.sort_values("fpr").groupby("strategy"):
            _band(axes, curve, "fpr", CURVES[strategy], marker="")
        axes.set(
            xscale="log",
            yscale="log",
            xlim=(lowest, 1),
            ylim=(lowest, 1.15),
            xlabel="FPR",
            title=figure_style.plain(dataset),
        )
    grid[0][0].set_ylabel("TPR")
    _legend(figure, CURVES, rows["strategy"].unique(), shared_panels.GUESSING, markers=False)
    return figure


@figure_style.applied
def fpc_sigma(table: pd.DataFrame) -> Figure:
    """Empirical, corrected and analytic sigma of every record, sorted by |x|; IN and OUT models apart (Figure 2a).

    table: one row per record with columns side (in, out), norm, empirical, corrected, analytic.
    """
    figure, grid = figure_style.panels(1, 2, height=2.2)
    for (side, panel), axes in zip(table.groupby("side", sort=False), grid[0], strict=True):
        _sigma_panel(axes, panel, f"{side.upper()} models")
    _sigma_legend(figure)
    return figure


@figure_style.applied
def fpc_fraction(table: pd.DataFrame) -> Figure:
    """`fpc_sigma` for several fractions N/N+, a row per fraction (Figure A3).

    table: as in `fpc_sigma`, with a column fraction.
    """
    fractions = sorted(table["fraction"].unique())
    figure, grid = figure_style.panels(len(fractions), 2)
    for fraction, line in zip(fractions, grid, strict=True):
        for (side, panel), axes in zip(
            table[table["fraction"] == fraction].groupby("side", sort=False), line, strict=True
        ):
            _sigma_panel(axes, panel, f"N/N$_+$ = {fraction:g}, {side.upper()} models")
            axes.set_xlabel(axes.get_xlabel() if line is grid[-1] else "")
    _sigma_legend(figure)
    return figure


@figure_style.applied
def fpc_ratio(table: pd.DataFrame) -> Figure:
    """Distribution over records of empirical over analytic sigma, before and after correction (Figure 2b).

    table: one row per record with columns side (in, out), before, after, and factor, the finite population correction
    (grey line at its root).
    """
    figure, grid = figure_style.panels(1, 1, width=figure_style.ONE_COLUMN, height=2.0)
    axes = grid[0][0]
    for (side, panel), filled in zip(table.groupby("side", sort=False), (True, False), strict=True):
        for column, colour in (("before", figure_style.RED), ("after", figure_style.BLUE)):
            shape = {"histtype": "stepfilled", "alpha": 0.35} if filled else {"histtype": "step", "linewidth": 1.2}
            axes.hist(panel[column], bins=40, color=colour, label=f"{side.upper()}, {column} correction", **shape)
    figure_style.reference(axes, float(np.sqrt(table["factor"].iloc[0])), "$\\sqrt{\\mathrm{FPC}}$")
    figure_style.reference(axes, 1.0, "1")
    axes.set(xlabel="empirical $\\sigma$ / analytic $\\sigma$", ylabel="records")
    figure.legend(*axes.get_legend_handles_labels(), loc="outside upper center", ncols=2)
    return figure


@figure_style.applied
def fpc_population(table: pd.DataFrame) -> Figure:
    """TPR of real models predicted from a small superset and measured on fresh draws, a panel per FPR (Section 5.1).

    table: rows of metrics predicted_tpr, measured_tpr and measured_fpr with keys dataset, fpr, corrected.
    """
    metrics = ["predicted_tpr", "measured_tpr", "measured_fpr"]
    rows = shared_panels.rows(table, "lira_fpc_population", "fpr", metric=metrics, corrected=None)
    rows = rows.assign(series=rows["metric"] + " " + rows["corrected"].astype(str).str.lower())
    names, fprs = list(dict.fromkeys(rows["dataset"]))[::-1], sorted(rows["fpr"].unique(), reverse=True)
    figure, [panels] = figure_style.panels(1, len(fprs), height=0.6 + 0.5 * len(names))
    for fpr, axes in zip(fprs, panels, strict=True):
        panel = shared_panels.single(rows[rows["fpr"] == fpr], ["dataset", "series"])
        shared_panels.dots(axes, panel, "dataset", names, "series", POPULATION)
        axes.axvline(fpr, **shared_panels.GREY, zorder=1)
        axes.set(title=f"FPR {fpr:g}", xlabel="rate")
    return shared_panels.legend(figure, POPULATION, shared_panels.GUESSING, lines=False)


def _per_models(axes: Axes, panel: pd.DataFrame, key: str, looks: Looks) -> None:
    for name, look in shared_panels.present(looks, panel[key]).items():
        _band(axes, panel[panel[key] == name].sort_values("models"), "models", look, look[-1])


def _band(axes: Axes, rows: pd.DataFrame, x: str, look: Look, marker: str) -> None:
    _, colour, dash, _ = look
    axes.fill_between(rows[x], rows["low"], rows["high"], color=colour, alpha=0.12, linewidth=0)
    axes.plot(rows[x], rows["estimate"], color=colour, linestyle=dash, marker=marker)


def _log2_axis(axes: Axes, models: Iterable[int]) -> None:
    ticks = sorted(models)
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_locator(FixedLocator(ticks[:: 1 + len(ticks) // 6]))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_locator(NullLocator())


def _sigma_panel(axes: Axes, panel: pd.DataFrame, title: str) -> None:
    panel = panel.sort_values("norm")
    dots = {"linestyle": "", "marker": ".", "markersize": 2, "alpha": 0.5, "rasterized": True}
    axes.plot(panel["norm"], panel["empirical"], color=figure_style.RED, **dots)
    axes.plot(panel["norm"], panel["corrected"], color=figure_style.BLUE, **dots)
    axes.plot(panel["norm"], panel["analytic"], color=figure_style.BLACK)
    axes.set(xlabel="record, by its norm $\\|x\\|_2$", ylabel="$\\sigma$ of its signal", title=title)


def _sigma_legend(figure: Figure) -> None:
    names = ("empirical", "empirical, corrected", "analytic")
    legend = figure.legend(figure.axes[0].get_lines(), names, loc="outside upper center", ncols=3, markerscale=4)
    for handle in legend.legend_handles:
        handle.set_alpha(1)


def _outer_labels(grid: list[list[Axes]], datasets: Iterable[str], x: str, y: str) -> None:
    for dataset, line in zip(datasets, grid, strict=True):
        label = line[0].set_ylabel(y)
        place = {"xy": (0, 0.5), "xycoords": label, "xytext": (-3, 0), "textcoords": "offset points"}
        line[0].annotate(
            figure_style.plain(dataset), **place, rotation=90, ha="right", va="center", fontsize=8, fontweight="bold"
        )
    for axes in grid[-1]:
        axes.set_xlabel(x)


def _legend(figure: Figure, looks: Looks, present: Iterable[str], *others: Line2D, markers: bool = True) -> None:
    handles = [
        Line2D([], [], color=colour, linestyle=dash, marker=marker if markers else "", label=label)
        for label, colour, dash, marker in shared_panels.present(looks, present).values()
    ]
    shared_panels.legend_above(figure, [*handles, *others])
