"""Figures of the study of memorization in fine-tuned in-context models (ICLMEM), drawn from tidy results.

Published rules for outcomes are blue, the null-calibrated one purple. Dashed grey: the value of chance in the results.
"""

from collections.abc import Iterable
from itertools import cycle

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from memaudit.plotting import figure_style, iclmem_dose_figure, shared_panels

Looks, Limits = dict[str, tuple], tuple[float, float] | None
OUTCOMES = {
    "collapse": ("collapse", figure_style.BLACK, "v"),
    "inversion": ("inversion", figure_style.ORANGE, "s"),
    "detectable": ("detectable", figure_style.RED, "o"),
    "context overfitting": ("context overfitting", figure_style.GREEN, "^"),
    "no signal": ("no signal", figure_style.SKY, "D"),
}
# The other rules are published ones: blue, each with a marker of its own.
RULES = {
    "null_calibrated": ("null-calibrated", figure_style.PURPLE, "D"),
    "all": ("all runs without collapse", figure_style.BLACK, "^"),
}
RECORDS = {
    "query": ("members (queries of the fine-tuning)", figure_style.RED, "o"),
    "nonmember": ("non-members", figure_style.BLACK, "^"),
    "permuted": ("memberships permuted", figure_style.BLACK, "^"),
}
STAGES = {
    ("permutation", "criterion"): "permuted memberships:\ncriterion alone",
    ("permutation", "outcome"): "permuted memberships:\nwhole rule",
    ("run", "criterion"): "fine-tuned on others:\nruns, criterion alone",
    ("run", "outcome"): "fine-tuned on others:\nruns, whole rule",
    ("setting", "criterion"): "fine-tuned on others:\nsettings",
}
CHECKS = {
    "p-value": "p \u2264 .05 of the run",
    "q-value": "q \u2264 .05 among all runs",
    "setting": "its setting is detected",
    "setting on loss": "its setting is detected on the loss",
}
SHARE = (-0.02, 1.02)
doses = iclmem_dose_figure.doses
CHANCE, NOMINAL = (Line2D([], [], **shared_panels.GREY, label=label) for label in ("chance", "nominal rate"))


@figure_style.applied
def epochs(table: pd.DataFrame) -> Figure:
    """Share of each outcome over the epochs, a row of panels per rule, a column per model and Q (ICLMEM, Figure 2).

    table: rows of metric "outcome share" with keys by == "epoch", model, queries, epoch, rule, outcome.
    """
    rows = _by_queries(
        shared_panels.rows(table, "iclmem_epochs", "epoch", metric="outcome share", by="epoch", rule=None)
    )
    rules, panels, looks = (
        _rules(rows["rule"]),
        rows["panel"].unique(),
        shared_panels.present(OUTCOMES, rows["outcome"]),
    )
    figure, grid = figure_style.panels(len(rules), len(panels), width=shared_panels.width(panels))
    for rule, line in zip(rules, grid, strict=True):
        for panel, axes in zip(panels, line, strict=True):
            points = shared_panels.single(rows[(rows["rule"] == rule) & (rows["panel"] == panel)], ["outcome", "epoch"])
            for place, (outcome, look) in enumerate(looks.items()):
                dots = points[points["outcome"] == outcome].sort_values("epoch")
                x = shared_panels.beside(dots["epoch"], rows["epoch"], place, len(looks))
                shared_panels.intervals(axes, x, dots, look, line={"linewidth": 0.7})
            shared_panels.ticks(axes, rows["epoch"], base=10, most=8, form=".3g")
            axes.set_xlim(*shared_panels.around(rows["epoch"], len(looks)))
            axes.set_ylim(*SHARE)
            axes.set_title(figure_style.plain(panel).replace(", ", "\n") if line is grid[0] else "")
        line[0].set_ylabel(f"share of runs\n{rules[rule][0]}")
    figure.supxlabel("epoch", fontsize=figure_style.RC["axes.labelsize"])
    return shared_panels.legend(figure, looks)


@figure_style.applied
def outcomes(table: pd.DataFrame) -> Figure:
    """Share of each outcome under every rule, a panel per Q over all models, and per model and Q (ICLMEM, Figure 5).

    table: rows of metric "outcome share" with keys by == "tasks", over all models, or "queries", model, queries, rule,
    outcome. Where a single model has a Q there is no panel over all.
    """
    rows = shared_panels.rows(table, "iclmem_outcomes", "queries", metric="outcome share", by=["tasks", "queries"])
    rows = rows[(rows["by"] == "queries") | (rows.groupby("queries")["model"].transform("nunique") > 1)]
    rows = _by_queries(rows.assign(model=rows["model"].fillna("all models")))
    return _dots(rows, "outcome", "rule", _rules(rows["rule"]), "share of runs", limits=SHARE)


@figure_style.applied
def manipulations(table: pd.DataFrame) -> Figure:
    """Change of the AUC by one manipulation of the context, by category, a panel per model (ICLMEM, Figure 4).

    table: rows of metric "auc effect" with keys model, runs, signal, category. Runs: all without
    collapse, or those that a rule calls detectable. The baseline has no effect by definition and is omitted.
    """
    table = table[table["category"] != "baseline"]
    rows = shared_panels.rows(table, "iclmem_manipulations", metric="auc effect", category=None, signal="loss")
    rows = rows.assign(panel=rows["model"], category=rows["category"].map(_spaced))
    return _dots(rows, "category", "runs", _rules(rows["runs"]), "change of AUC against the baseline", CHANCE)


@figure_style.applied
def flags(table: pd.DataFrame) -> Figure:
    """Share of runs without collapse that raw and calibrated TPRs flag, beside chance (ICLMEM, Appendix A.4).

    table: rows of metrics "raw flag share" and "calibrated flag share" with keys model, records.
    """
    flagged_by = {"raw flag share": "raw TPR", "calibrated flag share": "calibrated TPR"}
    rows = shared_panels.rows(table, "iclmem_flags", metric=list(flagged_by), records=None)
    rows = rows.assign(panel=rows["model"], flag=rows["metric"].map(flagged_by))
    looks = shared_panels.present(RECORDS, rows["records"])
    return _dots(rows, "flag", "records", looks, "share of runs without collapse that are flagged", limits=SHARE)


@figure_style.applied
def false_detections(table: pd.DataFrame) -> Figure:
    """Detection rate of each rule on negative controls, beside the nominal rate; a panel per stage.

    table: rows of metric "placebo rate" with keys of, stage, rule, signal, and model for runs.
    """
    rows = shared_panels.rows(table, "iclmem_false_detections", metric="placebo rate", of=None, stage=None, rule=None)
    stages = pd.Series(list(zip(rows["of"], rows["stage"], strict=True)), rows.index).map(STAGES)
    rules = [f"{_spaced(rule)}, {signal}" for rule, signal in zip(rows["rule"], rows["signal"], strict=True)]
    rows = rows.assign(panel=stages, rule=rules, model=rows["model"].fillna("all models"))
    looks = shared_panels.looks(rows["model"])
    return _dots(rows, "rule", "model", looks, "share of negative controls that are detected", NOMINAL, limits=SHARE)


@figure_style.applied
def survival(table: pd.DataFrame) -> Figure:
    """Share of the detections of each rule that survive each check, runs and settings apart.

    table: rows of metrics "surviving share", with keys labels == "all", of, rule, check, and "detections", for the
    legend.
    """
    rows = shared_panels.rows(table, "iclmem_survival", metric="surviving share", labels="all", of=None, check=None)
    counts, looks = table[(table["metric"] == "detections") & (table["labels"] == "all")], _rules(rows["rule"])
    for rule, (label, *look) in looks.items():
        numbers = [f"{row.estimate:.0f} {row.of}s" for row in counts[counts["rule"] == rule].itertuples()]
        looks[rule] = (f"{label}: {', '.join(numbers)}", *look)
    rows = rows.assign(panel=rows["of"] + "s", check=[CHECKS.get(name, _spaced(name)) for name in rows["check"]])
    return _dots(rows, "check", "rule", looks, "share of detections that survive", limits=SHARE)


@figure_style.applied
def cardinality(table: pd.DataFrame) -> Figure:
    """Outcome at the largest AUC of each data set, by number of labels and majority share (ICLMEM, Figure 6).

    table: rows of metric auc with keys peak == "queries", dataset, queries, outcome, and of metrics k and majority with
    key dataset. A panel per Q.
    """
    peaks = shared_panels.rows(table, "iclmem_cardinality", "queries", metric="auc", peak="queries", outcome=None)
    shared_panels.single(peaks, ["dataset", "queries"])
    for fact in ("k", "majority"):
        facts = shared_panels.rows(table, "iclmem_cardinality", metric=fact, dataset=None)
        peaks = peaks.assign(
            **{fact: peaks["dataset"].map(dict(zip(facts["dataset"], facts["estimate"], strict=True)))}
        )
    peaks, looks = peaks.sort_values("queries"), shared_panels.present(OUTCOMES, peaks["outcome"])
    peaks["panel"] = peaks["queries"].map("Q = {:g}".format)
    figure, panels = shared_panels.panels_of(
        peaks["panel"].unique(), "number of labels k", "share of the majority", 2.4
    )
    beside = {"xytext": (3, 3), "textcoords": "offset points", "fontsize": 5.5}
    for panel, axes in panels.items():
        for row in peaks[peaks["panel"] == panel].itertuples():
            _, colour, marker = looks[row.outcome]
            axes.plot(row.k, row.majority, color=colour, marker=marker, markersize=4.5)
            axes.annotate(figure_style.plain(row.dataset), (row.k, row.majority), **beside)
        shared_panels.ticks(axes, peaks["k"], base=10, most=8, form=".3g")
        axes.set_ylim(-0.05, 1.05)
        axes.margins(x=0.15)
    return shared_panels.legend(figure, looks, lines=False)


@figure_style.applied
def density(table: pd.DataFrame) -> Figure:
    """Share of detectable runs of each data set against label density and query coverage (ICLMEM, Section 5).

    table: rows of metric "detectable share" with keys dataset, queries, rule, density, coverage. A row of panels for
    each Q that the largest number of data sets has.
    """
    rows = shared_panels.rows(table, "iclmem_density", "queries", metric="detectable share", rule=None)
    known = rows.groupby("queries")["dataset"].nunique()
    looks, counts = _rules(rows["rule"]), sorted(known[known == known.max()].index)
    figure, grid = figure_style.panels(len(counts), 2)
    for queries, line in zip(counts, grid, strict=True):
        panel = shared_panels.single(rows[rows["queries"] == queries], ["dataset", "queries", "rule"])
        for axes, key in zip(line, ("density", "coverage"), strict=True):
            for place, (rule, look) in enumerate(looks.items()):
                dots = panel[panel["rule"] == rule]
                x = shared_panels.beside(dots[key], rows[key], place, len(looks))
                shared_panels.intervals(axes, x, dots, look, line={"linestyle": ""})
            shared_panels.ticks(axes, panel[key], base=10, most=8, form=".3g")
            axes.set_ylim(*SHARE)
        line[0].set_ylabel(f"detectable share, Q = {queries:g}")
    for axes, label in zip(grid[-1], ("label density n / k", "query coverage Q / n"), strict=True):
        axes.set_xlabel(label)
    return shared_panels.legend(figure, looks, lines=False)


@figure_style.applied
def spread(table: pd.DataFrame) -> Figure:
    """Histograms of the change dS of the loss for members and non-members, a panel per data set and condition.

    table: rows of metric "dS share" with keys dataset, arm, epoch, records, left, right.
    """
    rows = shared_panels.rows(table, "iclmem_spread", "left", metric="dS share", records=["query", "nonmember"])
    rows["panel"] = [f"{row.dataset}\n{row.arm}, epoch {row.epoch:g}" for row in rows.itertuples()]
    looks = shared_panels.present(RECORDS, rows["records"])
    figure, panels = shared_panels.panels_of(rows["panel"].unique(), "dS of the loss, in nats", "share of records")
    for panel, axes in panels.items():
        _stairs(axes, rows[rows["panel"] == panel], "records", looks)
        axes.axvline(0, **shared_panels.GREY, zorder=1)
    return shared_panels.legend(figure, shared_panels.unmarked(looks))


@figure_style.applied
def loss_ratios(table: pd.DataFrame) -> Figure:
    """Histograms of vanilla loss over the base model's, a line per learning rate (ICLMEM, Appendix B.1).

    table: rows of metric "loss ratio share" with keys model, learning_rate, left, right. A panel per model; dashed: 1.
    """
    rows = shared_panels.rows(table, "iclmem_loss_ratios", "left", metric="loss ratio share", model=None)
    rates = sorted(rows["learning_rate"].unique())
    looks = {
        rate: (f"learning rate {rate:g}", colour, "") for rate, (_, colour, _) in shared_panels.looks(rates).items()
    }
    figure, panels = shared_panels.panels_of(
        rows["model"].unique(), "vanilla loss over the base model's", "share of runs"
    )
    for model, axes in panels.items():
        _stairs(axes, rows[rows["model"] == model], "learning_rate", looks)
        axes.set_xscale("log")
        axes.axvline(1, **shared_panels.GREY, zorder=1)
    return shared_panels.legend(figure, looks)


def _dots(
    rows: pd.DataFrame, what: str, key: str, looks: Looks, label: str, *others: Line2D, limits: Limits = None
) -> Figure:
    """Estimates with intervals, `what` from top to bottom, a colour for each `key`, a panel for each `panel`.

    others: handles for the nulls of the rows, which are drawn dashed then; limits: of the horizontal axis.
    """
    names = list(dict.fromkeys(rows[what]))[::-1]
    figure, panels = shared_panels.panels_of(
        rows["panel"].unique(), label, "", height=0.5 + 0.12 * len(names) * len(looks)
    )
    for panel, axes in panels.items():
        points = shared_panels.single(rows[rows["panel"] == panel], [what, key])
        shared_panels.dots(axes, points, what, names, key, looks)
        axes.set_xlim(limits)
        for null in points["null"].dropna().unique() if others else ():
            axes.axvline(null, **shared_panels.GREY, zorder=1)
    return shared_panels.legend(figure, looks, *others, lines=False)


def _stairs(axes: Axes, rows: pd.DataFrame, key: str, looks: Looks) -> None:
    """Draw a histogram for each look of `key` from the edges of its bins."""
    for name, (_, colour, _) in looks.items():
        bins = rows[rows[key] == name].sort_values("left")
        if len(shared_panels.single(bins, [key, "left"])):
            edges = [*bins["left"], bins["right"].iloc[-1]]
            axes.stairs(bins["estimate"], edges, color=colour, alpha=0.15, fill=True)
            axes.stairs(bins["estimate"], edges, color=colour)


def _by_queries(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.assign(panel=rows["model"] + ", Q = " + rows["queries"].map("{:g}".format))


def _rules(names: Iterable[str]) -> Looks:
    """Looks of the rules, in the order of the names."""
    markers = cycle(shared_panels.MARKERS)
    return {
        name: RULES.get(name) or (figure_style.plain(_spaced(name)), figure_style.BLUE, next(markers))
        for name in dict.fromkeys(names)
    }


def _spaced(name: str) -> str:
    return name.replace("_", " ")
