"""Figures of the study of attacks on in-context learning (TabPATE, Section 3 and Appendix A), from tidy results."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from memaudit.attacks.attack_entry import LABELS, Entry
from memaudit.attacks.registry import REGISTRY
from memaudit.common.errors import AuditError
from memaudit.plotting import figure_style, shared_panels
from memaudit.plotting.shared_panels import COLOURS, GREY, GUESSING, NULL

# One attack of each threat model, in the order of the legend; cold colours: passive, warm: active.
THREATS = ("perturbation", "lira", "brainwash", "lira poisoned")
# key: label of its axis, records that are attacked at all of its values
SETTINGS = {"copies": ("duplicates of the record", "copied"), "context": ("records in the context", "common")}
ALL = Line2D(
    [], [], color=figure_style.GREY, linestyle="", marker="o", mfc="white", markersize=3.5, label="all features"
)


@figure_style.applied
def roc(table: pd.DataFrame) -> Figure:
    """ROC curves of the four threat models in the main condition, a panel per data set (TabPATE, Table 1).

    table: rows of metric roc_tpr with keys dataset, arm, attack, poison, fpr. Poisoning is shown at its largest budget.
    """
    rows = shared_panels.rows(table, "attacks_roc", "fpr", metric="roc_tpr", arm="main", attack=list(THREATS))
    most = rows["poison"][rows["attack"] == "lira poisoned"].max()
    rows = rows[(rows["attack"] != "lira poisoned") | (rows["poison"] == most)]
    looks = {name: _look(REGISTRY[name], most) for name in THREATS if name in set(rows["attack"])}
    return shared_panels.rocs(rows, "attack", looks)


def _look(attack: Entry, poisons: float) -> tuple[str, str, str]:
    """Label, colour and marker of an attack: what it reads, and whether it changes the context."""
    reads, kind = attack.threat.rsplit(" ", 1)
    label = f"{attack.label.format(k=poisons)} ({'labels only' if reads == LABELS else reads}, {kind})"
    return label, getattr(figure_style, attack.colour), ""


@figure_style.applied
def inference(table: pd.DataFrame) -> Figure:
    """ROC curves of attribute, data set and property inference, a panel per data set.

    table: rows of metric roc_tpr with keys dataset, question, fpr.
    """
    rows = shared_panels.rows(table, "attacks_inference", "fpr", metric="roc_tpr", question=None)
    looks = shared_panels.looks(rows["question"])
    return shared_panels.rocs(
        rows, "question", {name: (f"{looks[name][0]} inference", looks[name][1], "") for name in looks}
    )


@figure_style.applied
def features(table: pd.DataFrame) -> Figure:
    """AUC of LiRA against the number of features, hollow if all are kept (TabPATE, Figure 2).

    table: rows of metric auc with keys dataset, arm, variant, features, sets, records, and of "spearman features" with
    key dataset, for the legend. The usual contexts have all features and as many shadow contexts as the others.
    """
    rows = shared_panels.rows(
        table, "attacks_features", "features", metric="auc", records="all", arm=["main", "settings"], variant=None
    )
    fewer = rows["variant"].str.fullmatch(r"features \d+( order \d+)?")
    usual = (rows["variant"] == "usual") & (rows["arm"] == "main")
    sets = rows["sets"][fewer] if fewer.any() else [rows["sets"].max()]
    rows = shared_panels.rows(rows[fewer | (usual & rows["sets"].isin(sets))], "attacks_features", "features")
    looks = shared_panels.looks(rows["dataset"])
    for rho in table[(table["metric"] == "spearman features") & table["dataset"].isin(list(looks))].itertuples():
        label, *look = looks[rho.dataset]
        looks[rho.dataset] = (f"{label}, \u03c1 = {rho.estimate:.2f} [{rho.low:.2f}, {rho.high:.2f}]", *look)
    figure, [[axes]] = figure_style.panels(1, 1, width=1.5 * figure_style.ONE_COLUMN, height=2.2)
    # Points of one number stand side by side, at most an eighth from their number.
    step = min(0.12, 0.36 / max(1, len(looks) - 1))
    for place, (dataset, (_, colour, marker)) in enumerate(looks.items()):
        points = rows[rows["dataset"] == dataset]
        x = points["features"] * 2 ** (step * (place - (len(looks) - 1) / 2))
        axes.vlines(x, points["low"], points["high"], color=colour, alpha=0.5, linewidth=1)
        faces = ["white" if name == "usual" else colour for name in points["variant"]]
        axes.scatter(x, points["estimate"], s=12, marker=marker, facecolors=faces, edgecolors=colour, zorder=3)
    shared_panels.ticks(axes, rows["features"], base=2, most=12, form=".0f")
    _guessing([axes], 0.5)
    axes.set(xlabel="features", ylabel="AUC of LiRA")
    return shared_panels.legend(figure, looks, ALL, GUESSING, lines=False)


@figure_style.applied
def poison(table: pd.DataFrame) -> Figure:
    """AUC and TPR against the number of poisons, a column per data set, a line per condition (TabPATE, Table 6).

    table: rows of metrics auc and tpr@FPR with keys dataset, arm, ablation, value; TPR is shown at the smallest FPR.
    """
    rows = shared_panels.rows(table, "attacks_poison", "value", ablation="poison budget")
    measures, datasets, looks = (
        _measures(rows, "attacks_poison"),
        rows["dataset"].unique(),
        shared_panels.looks(rows["arm"]),
    )
    figure, grid = figure_style.panels(len(measures), len(datasets), width=shared_panels.width(datasets))
    for (metric, (name, chance)), line in zip(measures.items(), grid, strict=True):
        for dataset, axes in zip(datasets, line, strict=True):
            shared_panels.lines(
                axes, rows[(rows["metric"] == metric) & (rows["dataset"] == dataset)], "value", "arm", looks
            )
            shared_panels.ticks(axes, rows["value"], most=12, form=".0f")
            axes.set_title(figure_style.plain(dataset) if line is grid[0] else "")
        _guessing(line, chance)
        line[0].set_ylabel(name)
    figure.supxlabel("poisons k (mislabelled copies of the record)", fontsize=figure_style.RC["axes.labelsize"])
    return shared_panels.legend(figure, looks, GUESSING, NULL)


@figure_style.applied
def shadow_sets(table: pd.DataFrame) -> Figure:
    """AUC and TPR at the smallest FPR against the number of shadow contexts, a line per data set.

    table: rows of metrics auc and tpr@FPR with keys dataset, ablation, value.
    """
    rows = shared_panels.rows(table, "attacks_shadow_sets", "value", ablation="shadow sets")
    measures = _measures(rows, "attacks_shadow_sets").items()
    return _by_dataset([(rows[rows["metric"] == name], "value", "shadow contexts", *look) for name, look in measures])


@figure_style.applied
def settings(table: pd.DataFrame) -> Figure:
    """AUC against the duplicates of the target and against the records of the context, a line per data set.

    table: rows of metric auc with keys dataset, records, copies and context. Points of a line are on the same records:
    records == "copied" for duplicates, "common" for contexts.
    """
    present = set(table["records"]) if "records" in table else set()
    keys = [key for key, (_, records) in SETTINGS.items() if records in present] or list(SETTINGS)
    parts = [shared_panels.rows(table, "attacks_settings", key, metric="auc", records=SETTINGS[key][1]) for key in keys]
    return _by_dataset([(rows, key, SETTINGS[key][0], "AUC", 0.5) for key, rows in zip(keys, parts, strict=True)])


@figure_style.applied
def risk_map(table: pd.DataFrame) -> Figure:
    """Vulnerability score of each record against its neighbour distance, a panel per data set, a colour per class.

    table: rows of metrics distance, a rank in (0, 1], and vulnerability, with keys dataset, point, class. More than
    seven classes have a colour bar in place of the legend.
    """
    points = _paired(
        table, "attacks_risk_map", ["dataset", "point", "class"], {"metric": "distance"}, {"metric": "vulnerability"}
    )
    few = points.groupby("dataset")["class"].transform("nunique") <= len(COLOURS)
    looks = shared_panels.looks(sorted(points["class"][few].unique()))
    figure, panels = shared_panels.panels_of(
        points["dataset"].unique(), "neighbour distance (percentile)", "vulnerability score (effect size)"
    )
    for dataset, axes in panels.items():
        panel = points[points["dataset"] == dataset]
        bar = not few[panel.index[0]]
        shades = pd.factorize(panel["class"], sort=True)[0] if bar else [looks[name][1] for name in panel["class"]]
        drawn = axes.scatter(100 * panel["estimate_x"], panel["estimate_y"], c=shades, s=7, alpha=0.6, linewidths=0)
        if bar:
            figure.colorbar(drawn, ax=axes, label="class")
        axes.axhline(0, **GREY, zorder=1)
        axes.set_xlim(-2, 102)
    return shared_panels.legend(
        figure, {key: (f"class {look[0]}", look[1], "o") for key, look in looks.items()}, lines=False
    )


@figure_style.applied
def mitigations(table: pd.DataFrame) -> Figure:
    """AUC of LiRA against balanced accuracy with each mitigation, a panel per data set.

    table: rows of metric auc with keys dataset, mitigation, attack, records, and of metric "balanced accuracy" with
    keys dataset, mitigation. Points are numbered as in the legend, in a column, since they overlap.
    """
    leak = {"metric": "auc", "attack": ["lira", "lira on correctness"], "records": "all that remain"}
    points = _paired(table, "attacks_mitigations", ["dataset", "mitigation"], {"metric": "balanced accuracy"}, leak)
    return _plane(points, "mitigation", "AUC of LiRA")


@figure_style.applied
def model_families(table: pd.DataFrame) -> Figure:
    """AUC of each model family's strongest score against its balanced accuracy, a panel per data set and for the mean.

    table: rows of metric auc, of members, and of metric "balanced accuracy", with keys dataset, model, attack, records.
    """
    leak = {"metric": "auc", "attack": "strongest", "records": "members"}
    useful = {"metric": "balanced accuracy", "attack": "strongest"}
    points = _paired(table, "attacks_model_families", ["dataset", "model"], useful, leak)
    return _plane(points, "model", "AUC of the strongest score")


def _plane(points: pd.DataFrame, key: str, leakage: str) -> Figure:
    """Leakage against balanced accuracy, a panel per data set; points: of `_paired`, numbered as in the legend."""
    looks = shared_panels.looks(points[key])
    numbers = {name: number for number, name in enumerate(looks, 1)}
    figure, panels = shared_panels.panels_of(points["dataset"].unique(), "balanced accuracy on unseen records", leakage)
    for dataset, axes in panels.items():
        for point in points[points["dataset"] == dataset].itertuples():
            (_, colour, marker), x, y = looks[getattr(point, key)], point.estimate_x, point.estimate_y
            axes.hlines(y, point.low_x, point.high_x, color=colour, alpha=0.5, linewidth=1)
            axes.vlines(x, point.low_y, point.high_y, color=colour, alpha=0.5, linewidth=1)
            axes.plot(x, y, color=colour, marker=marker, markersize=4.5)
    _guessing(list(panels.values()), 0.5)
    for dataset, axes in panels.items():
        panel = points[points["dataset"] == dataset]
        _numbered(axes, panel["estimate_x"], panel["estimate_y"], [numbers[name] for name in panel[key]])
    named = {name: (f"{numbers[name]}  {label}", *look) for name, (label, *look) in looks.items()}
    return shared_panels.legend(figure, named, GUESSING, lines=False)


def _paired(table: pd.DataFrame, figure: str, keys: list[str], x: dict, y: dict) -> pd.DataFrame:
    """Points that have both values: columns `keys`, estimate_x, low_x, high_x, estimate_y, low_y, high_y."""
    coordinates = (
        shared_panels.single(shared_panels.rows(table, figure, **dict.fromkeys(keys), **values), keys)
        for values in (x, y)
    )
    left, right = (rows[[*keys, "estimate", "low", "high"]] for rows in coordinates)
    if (points := left.merge(right, on=keys)).empty:
        raise AuditError(f"figure {figure}: no {keys[1]} has {x['metric']} and {y['metric']}; evaluate both")
    return points


def _measures(rows: pd.DataFrame, figure: str) -> dict[str, tuple[str, float]]:
    """AUC, and TPR at the smallest FPR of the rows: metric, its label, and its value under guessing."""
    shared_panels.rows(rows, figure, metric="auc")
    rates = rows["metric"].str.extract(r"^tpr@([\d.e-]+)$")[0].dropna().astype(float)
    return {"auc": ("AUC", 0.5)} | {f"tpr@{fpr:g}": (f"TPR at FPR = {fpr:g}", fpr) for fpr in sorted(rates)[:1]}


def _by_dataset(parts: list[tuple[pd.DataFrame, str, str, str, float]]) -> Figure:
    """A line per data set; a panel for each part: rows, key of x, labels of x and y, value under guessing."""
    looks = shared_panels.looks(pd.concat([rows for rows, *_ in parts])["dataset"])
    figure, [line] = figure_style.panels(1, len(parts), width=shared_panels.width(parts))
    for axes, (rows, x, x_label, y_label, chance) in zip(line, parts, strict=True):
        shared_panels.lines(axes, rows, x, "dataset", looks)
        shared_panels.ticks(axes, rows[x], base=2, most=12, form=".0f")
        _guessing([axes], chance)
        axes.set(xlabel=x_label, ylabel=y_label)
    return shared_panels.legend(figure, looks, GUESSING, NULL)


def _guessing(line: Sequence[Axes], chance: float) -> None:
    """Draw a line at the value of guessing; give all panels one scale that includes it and does not magnify noise."""
    low, high = (end(axes.get_ylim()[i] for axes in line) for i, end in enumerate((min, max)))
    for axes in line:
        axes.axhline(chance, **GREY, zorder=1)
        axes.set_ylim(min(low, 0.45) if chance == 0.5 else 0, min(max(high, chance + 0.1), 1.03))


def _numbered(axes: Axes, x: pd.Series, y: pd.Series, numbers: Sequence[int]) -> None:
    """Write the numbers of the points to the right of the panel, in the order of y, each with a line to its point."""
    low, high = axes.get_ylim()
    gap = 0.085  # height of a letter, as a share of the panel's
    heights = (np.asarray(y) - low) / (high - low)
    order = np.argsort(heights, kind="stable")
    for beside, i in enumerate(order[1:]):
        heights[i] = max(heights[i], heights[order[beside]] + gap)
    heights[order[-1]] = min(heights[order[-1]], 1.0)
    for beside, i in list(enumerate(order[1:]))[::-1]:
        heights[order[beside]] = min(heights[order[beside]], heights[i] - gap)
    line = {"arrowstyle": "-", "color": figure_style.GREY, "linewidth": 0.4, "shrinkA": 0, "shrinkB": 2}
    for number, *point, height in zip(numbers, x, y, heights, strict=True):
        place = {"xytext": (1.03, height), "textcoords": "axes fraction", "va": "center", "size": 6.5}
        axes.annotate(number, point, **place, arrowprops=line, zorder=1)
