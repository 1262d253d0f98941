"""Figures of the study of attacks on in-context learning, drawn from tidy results after `tidy.expand`.

A figure raises AuditError where no row is for it, or where two are for one point; what else is missing, such as an arm
on one data set, is left out. Dashed grey: guessing; dotted grey: the null that comes with the values.
"""

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from memaudit.attacks.registry import LABELS, REGISTRY, Entry
from memaudit.errors import AuditError
from memaudit.plotting import figure_style, shared_panels
from memaudit.plotting.shared_panels import COLOURS, GREY, GUESSING, NULL

# One attack of each threat model, in the order of the legend; cold colours: passive, warm: active.
THREATS = ("perturbation", "lira", "brainwash", "lira poisoned")
# key: label of its axis, records that all its values share
SETTINGS = {"copies": ("copies of the record", "copied"), "context": ("records in the context", "common")}
ALL = Line2D(
    [], [], color=figure_style.GREY, linestyle="", marker="o", mfc="white", markersize=3.5, label="all features"
)


@figure_style.applied
def roc(table: pd.DataFrame) -> Figure:
    """ROC curves of the four threat models in the main arm, a panel per data set (TabPATE, Table 1).

    table: rows of metric roc_tpr with keys dataset, arm, attack, poison, fpr. Poisoning is shown at its largest budget;
    what the method calls interpolated is left out.
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

    table: rows of metric roc_tpr with keys dataset, question, fpr; what the method calls interpolated is left out.
    """
    rows = shared_panels.rows(table, "attacks_inference", "fpr", metric="roc_tpr", question=None)
    looks = shared_panels.looks(rows["question"])
    return shared_panels.rocs(
        rows, "question", {name: (f"{looks[name][0]} inference", looks[name][1], "") for name in looks}
    )


@figure_style.applied
def features(table: pd.DataFrame) -> Figure:
    """LiRA's AUC against the number of features, hollow where all are kept (TabPATE, Figure 2).

    table: rows of metric auc with keys dataset, arm, variant, features, sets, records, and of "spearman features" with
    key dataset, told in the legend. The usual contexts have all features and as many shadow sets as the others.
    """
    rows = shared_panels.rows(
        table, "attacks_features", "features", metric="auc", records="all", arm=["main", "settings"], variant=None
    )
    fewer = rows["variant"].str.fullmatch(r"features \d+( order \d+)?")
    usual = (rows["variant"] == "usual") & (rows["arm"] == "main")
    sets = rows["sets"][fewer] if fewer.any() else [rows["sets"].max()]
    rows = shared_panels.rows(rows[fewer | (usual & rows["sets"].isin(sets))], "attacks_features", "features")
    looks = shared_panels.looks(rows["dataset"])
    for found in table[(table["metric"] == "spearman features") & table["dataset"].isin(list(looks))].itertuples():
        label, *look = looks[found.dataset]
        looks[found.dataset] = (f"{label}, \u03c1 = {found.estimate:.2f} [{found.low:.2f}, {found.high:.2f}]", *look)
    figure, [[axes]] = figure_style.panels(1, 1, width=1.5 * figure_style.ONE_COLUMN, height=2.2)
    for place, (dataset, (_, colour, marker)) in enumerate(looks.items()):
        points = rows[rows["dataset"] == dataset]
        x = points["features"] * 2 ** (0.12 * (place - (len(looks) - 1) / 2))
        axes.vlines(x, points["low"], points["high"], color=colour, alpha=0.5, linewidth=1)
        faces = ["white" if name == "usual" else colour for name in points["variant"]]
        axes.scatter(x, points["estimate"], s=12, marker=marker, facecolors=faces, edgecolors=colour, zorder=3)
    _ticks(axes, rows["features"], log2=True)
    _guessing([axes], 0.5)
    axes.set(xlabel="features", ylabel="AUC of LiRA")
    return shared_panels.legend(figure, looks, ALL, GUESSING, lines=False)


@figure_style.applied
def poison(table: pd.DataFrame) -> Figure:
    """AUC and TPR against the number of mislabelled copies, a column per data set, a line per arm (TabPATE, Table 6).

    table: rows of metrics auc and tpr@FPR with keys dataset, arm, ablation, value; of the FPRs the smallest is shown.
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
            _ticks(axes, rows["value"])
            axes.set_title(figure_style.plain(dataset) if line is grid[0] else "")
        _guessing(line, chance)
        line[0].set_ylabel(name)
    figure.supxlabel("mislabelled copies k of the record", fontsize=figure_style.RC["axes.labelsize"])
    return shared_panels.legend(figure, looks, GUESSING, NULL)


@figure_style.applied
def shadow_sets(table: pd.DataFrame) -> Figure:
    """AUC and TPR at the smallest FPR against the number of shadow sets, a line per data set.

    table: rows of metrics auc and tpr@FPR with keys dataset, ablation, value.
    """
    rows = shared_panels.rows(table, "attacks_shadow_sets", "value", ablation="shadow sets")
    measures = _measures(rows, "attacks_shadow_sets").items()
    return _by_dataset([(rows[rows["metric"] == name], "value", "shadow sets", *told) for name, told in measures])


@figure_style.applied
def settings(table: pd.DataFrame) -> Figure:
    """AUC against the copies of the target and against the records of the context, a line per data set.

    table: rows of metric auc with keys dataset, records, copies and context. What is compared is on the same records:
    records == "copied" for copies, "common" for contexts.
    """
    present = set(table["records"]) if "records" in table else set()
    keys = [key for key, (_, records) in SETTINGS.items() if records in present] or list(SETTINGS)
    parts = [shared_panels.rows(table, "attacks_settings", key, metric="auc", records=SETTINGS[key][1]) for key in keys]
    return _by_dataset([(rows, key, SETTINGS[key][0], "AUC", 0.5) for key, rows in zip(keys, parts, strict=True)])


@figure_style.applied
def risk_map(table: pd.DataFrame) -> Figure:
    """Exposure of each record against how far off it lies, a panel per data set, a colour per class.

    table: rows of metrics distance, a rank in (0, 1], and exposure, with keys dataset, point, class. More than seven
    classes are told apart by a colour bar.
    """
    points = _paired(
        table, "attacks_risk_map", ["dataset", "point", "class"], {"metric": "distance"}, {"metric": "exposure"}
    )
    few = points.groupby("dataset")["class"].transform("nunique") <= len(COLOURS)
    looks = shared_panels.looks(sorted(points["class"][few].unique()))
    figure, panels = shared_panels.panels_of(
        points["dataset"].unique(), "neighbour distance (percentile)", "exposure (effect size)"
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
    """What each mitigation leaves of LiRA's AUC against what it leaves of the utility, a panel per data set.

    table: rows of metric auc with keys dataset, mitigation, attack, records, and of metric "balanced accuracy" with
    keys dataset, mitigation. The numbers are those of the legend; they stand in a column, for points lie on each other.
    """
    leak = {"metric": "auc", "attack": ["lira", "lira on correctness"], "records": "all that remain"}
    points = _paired(table, "attacks_mitigations", ["dataset", "mitigation"], {"metric": "balanced accuracy"}, leak)
    looks = shared_panels.looks(points["mitigation"])
    numbers = {name: number for number, name in enumerate(looks, 1)}
    figure, panels = shared_panels.panels_of(
        points["dataset"].unique(), "balanced accuracy on unseen records", "AUC of LiRA"
    )
    for dataset, axes in panels.items():
        for point in points[points["dataset"] == dataset].itertuples():
            (_, colour, marker), x, y = looks[point.mitigation], point.estimate_x, point.estimate_y
            axes.hlines(y, point.low_x, point.high_x, color=colour, alpha=0.5, linewidth=1)
            axes.vlines(x, point.low_y, point.high_y, color=colour, alpha=0.5, linewidth=1)
            axes.plot(x, y, color=colour, marker=marker, markersize=4.5)
    _guessing(list(panels.values()), 0.5)
    for dataset, axes in panels.items():
        panel = points[points["dataset"] == dataset]
        _numbered(axes, panel["estimate_x"], panel["estimate_y"], [numbers[name] for name in panel["mitigation"]])
    named = {name: (f"{numbers[name]}  {label}", *look) for name, (label, *look) in looks.items()}
    return shared_panels.legend(figure, named, GUESSING, lines=False)


def _paired(table: pd.DataFrame, figure: str, keys: list[str], x: dict, y: dict) -> pd.DataFrame:
    """Points that have both: columns `keys`, estimate_x, low_x, high_x, estimate_y, low_y, high_y."""
    sides = (
        shared_panels.single(shared_panels.rows(table, figure, **dict.fromkeys(keys), **wanted), keys)
        for wanted in (x, y)
    )
    left, right = (side[[*keys, "estimate", "low", "high"]] for side in sides)
    if (points := left.merge(right, on=keys)).empty:
        raise AuditError(f"figure {figure}: no {keys[1]} has {x['metric']} and {y['metric']}; evaluate both")
    return points


def _measures(rows: pd.DataFrame, figure: str) -> dict[str, tuple[str, float]]:
    """AUC and TPR at the smallest FPR that is there: metric, its label, and what guessing reaches."""
    shared_panels.rows(rows, figure, metric="auc")
    rates = rows["metric"].str.extract(r"^tpr@([\d.e-]+)$")[0].dropna().astype(float)
    return {"auc": ("AUC", 0.5)} | {f"tpr@{fpr:g}": (f"TPR at FPR = {fpr:g}", fpr) for fpr in sorted(rates)[:1]}


def _by_dataset(parts: list[tuple[pd.DataFrame, str, str, str, float]]) -> Figure:
    """A line per data set; a panel for each part: rows, key of x, labels of x and y, what guessing reaches."""
    looks = shared_panels.looks(pd.concat([rows for rows, *_ in parts])["dataset"])
    figure, [line] = figure_style.panels(1, len(parts), width=shared_panels.width(parts))
    for axes, (rows, x, below, beside, chance) in zip(line, parts, strict=True):
        shared_panels.lines(axes, rows, x, "dataset", looks)
        _ticks(axes, rows[x], log2=True)
        _guessing([axes], chance)
        axes.set(xlabel=below, ylabel=beside)
    return shared_panels.legend(figure, looks, GUESSING, NULL)


def _ticks(axes: Axes, values: Iterable[float], log2: bool = False) -> None:
    """Ticks at the values themselves, where they do not crowd."""
    if log2:
        axes.set_xscale("log", base=2)
    values = np.unique(np.asarray(values, dtype=float))
    places = np.log2(values) if log2 else values
    kept = values[np.diff(places, prepend=-np.inf) >= np.ptp(places) / 12]
    axes.set_xticks(kept, [f"{value:.0f}" for value in kept])
    axes.minorticks_off()


def _guessing(line: Sequence[Axes], chance: float) -> None:
    """What guessing reaches, and one scale that has it in sight, so that noise does not fill the panels."""
    low, high = (end(axes.get_ylim()[i] for axes in line) for i, end in enumerate((min, max)))
    for axes in line:
        axes.axhline(chance, **GREY, zorder=1)
        axes.set_ylim(min(low, 0.45) if chance == 0.5 else 0, min(max(high, chance + 0.1), 1.03))


def _numbered(axes: Axes, x: pd.Series, y: pd.Series, numbers: Sequence[int]) -> None:
    """The points' numbers to the right of the panel in the order of y, apart, each with a line to its point."""
    low, high = axes.get_ylim()
    gap = 0.085  # a letter's height of the panel's
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
