"""The figures of memorization hold what the table holds, name it, and stand when a piece is missing."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex

from memaudit.common import tidy
from memaudit.common.errors import AuditError
from memaudit.plotting import figure_style, iclmem_dose_figure, iclmem_figures
from memaudit.studies.iclmem import outcome_rules
from memaudit.studies.iclmem.setting_summaries import NULL_CALIBRATED

DATASETS, QUERIES, EPOCHS, RATES = ("wine", "prices"), (50, 512), (1, 10, 100), (0.1, 0.0001)
# As configs name them: a published rule with one look, one with the next, and ours.
RULES = ("as_written", "mine", NULL_CALIBRATED)
LABELS = ["as written", "mine", "null-calibrated"]
CATEGORIES = ("baseline", "positional_shuffling", "skew_true_target")
FIGURES = (
    *("epochs", "outcomes", "manipulations", "flags", "false_detections"),
    *("survival", "cardinality", "density", "spread", "loss_ratios", "doses"),
)
POOL = {"model": "small", "regime": "single fixed"}


def row(metric, estimate, null=np.nan, **keys):
    return tidy.row("iclmem", keys, metric, estimate, low=estimate - 0.05, high=estimate + 0.1, null=null)


def share(rule, outcome, queries=50, epoch=1):
    """Another number for each."""
    place = outcome_rules.OUTCOMES.index(outcome)
    return 0.05 + 0.1 * place + 0.01 * RULES.index(rule) + 0.001 * QUERIES.index(queries) + epoch / 1000


def shares():
    rows = []
    for rule in RULES:
        for outcome in outcome_rules.OUTCOMES:
            for queries in QUERIES:
                keys = {**POOL, "rule": rule, "outcome": outcome, "queries": queries}
                rows.append(row("outcome share", share(rule, outcome, queries), **keys, by="queries"))
                pooled = {key: value for key, value in keys.items() if key != "model"}
                rows.append(row("outcome share", share(rule, outcome, queries) / 2, **pooled, by="tasks"))
                rows += [
                    row("outcome share", share(rule, outcome, queries, epoch), **keys, by="epoch", epoch=epoch)
                    for epoch in EPOCHS
                ]
    return rows


def effects():
    rows = [row("auc of the baseline", 0.6, 0.5, model="small", runs="all", signal="loss")]
    for place, category in enumerate(CATEGORIES):
        for runs in ("all", *RULES):
            for signal in ("loss", "entropy"):
                value = 0.01 * place + 0.001 * len(runs) + (signal == "entropy")
                keys = {"model": "small", "runs": runs, "signal": signal}
                rows.append(row("auc effect", value, 0.0, **keys, category=category))
                rows.append(row("auc effect", value, 0.0, **keys, manipulation=f"{category}: one"))
    return rows


def flags():
    rows = [tidy.row("iclmem", {**POOL, "records": "query"}, "raw flags", 12)]
    for kind, metric in enumerate(("raw flag share", "calibrated flag share")):
        rows += [row(metric, 0.5 - 0.3 * kind, **POOL, records="query"), row(metric, 0.45, **POOL, records="permuted")]
    return rows


def placebos():
    rows = []
    for rule, signal, rate in (("as_written", "larger", 0.6), (NULL_CALIBRATED, "loss", 0.04)):
        keys = {"rule": rule, "signal": signal}
        for of, stage, less in (
            ("permutation", "criterion", 0.01),
            ("permutation", "outcome", 0.03),
            ("run", "criterion", 0.0),
            ("run", "outcome", 0.02),
        ):
            rows.append(row("placebo rate", rate - less, 0.05, **POOL, **keys, of=of, stage=stage))
        rows.append(
            tidy.row("iclmem", {**keys, "of": "setting", "stage": "criterion"}, "placebo rate", rate / 2, null=0.05)
        )
    return rows


def survivals():
    rows = []
    for place, rule in enumerate(RULES):
        for of, count in (("run", 90), ("setting", 8)):
            keys = {"rule": rule, "of": of}
            rows.append(tidy.row("iclmem", {**keys, "labels": "all"}, "detections", count - place))
            rows.append(tidy.row("iclmem", {**keys, "labels": "normal"}, "detections", 1))
            for check in ("p-value", "setting") if of == "run" else ("setting",):
                value = 0.2 + 0.1 * place + 0.05 * len(check) / 10
                rows.append(row("surviving share", value, **keys, labels="all", check=check))
                rows.append(row("surviving share", 0.9, **keys, labels="normal", check=check))
    return rows


def tables_of_data():
    """As of `memorization_shares.tables` and `memorization_decisions.peaks`."""
    rows = []
    for place, dataset in enumerate(DATASETS):
        facts = {"k": 3 + 30 * place, "majority": 0.4 - 0.3 * place, "density": 130 - 100 * place}
        rows += [tidy.row("iclmem", {"dataset": dataset}, name, value) for name, value in facts.items()]
        for queries in QUERIES:
            near = facts | {"dataset": dataset, "queries": queries, "coverage": queries / 4000 * (1 + place)}
            rows += [
                row("detectable share", 0.3 + 0.1 * place + 0.02 * RULES.index(rule), **POOL, **near, rule=rule)
                for rule in RULES
            ]
            outcome = outcome_rules.OUTCOMES[2 * place]
            keys = {**POOL, "dataset": dataset, "queries": queries, "outcome": outcome, "epoch": 10}
            rows += [row("auc", 0.6, 0.5, **keys, peak=peak) for peak in ("queries", "regime")]
    return rows


def histograms():
    rows = []
    for dataset in DATASETS:
        for place, records in enumerate(("query", "nonmember", "context")):
            keys = {**POOL, "dataset": dataset, "arm": "slow", "epoch": 10, "records": records, "signal": "loss"}
            for left, value in ((-1, 0.2 + 0.1 * place), (0, 0.8 - 0.1 * place)):
                rows.append(tidy.row("iclmem", {**keys, "left": left, "right": left + 1}, "dS share", value))
    return rows


def ratios():
    rows = []
    for rate, values in zip(RATES, ((0.0, 1.0), (0.75, 0.25)), strict=True):
        for left, value in zip((1, 10), values, strict=True):
            keys = {**POOL, "learning_rate": rate, "left": left, "right": left * 10}
            rows.append(tidy.row("iclmem", keys, "loss ratio share", value))
        rows.append(row("median loss ratio", 2, 1.0, **POOL, learning_rate=rate))
    return rows


def doses():
    rows = []
    for dataset in DATASETS:
        for epoch in EPOCHS:
            keys = {**POOL, "dataset": dataset, "arm": "canaries", "labels": "canaries", "records": "query"}
            keys |= {"axis": "epochs", "dose": epoch}
            for place, signal in enumerate(iclmem_dose_figure.SIGNALS):
                rows.append(row("dose auc", 0.9 - 0.1 * place + epoch / 1000, 0.5, **keys, signal=signal))
                rows.append(row("smallest detectable dose auc", 0.6, 0.5, **keys, signal=signal))
    return rows


@pytest.fixture(scope="module")
def tables():
    made = {"manipulations": effects(), "flags": flags(), "false_detections": placebos(), "survival": survivals()}
    made |= dict.fromkeys(("epochs", "outcomes"), shares()) | dict.fromkeys(
        ("cardinality", "density"), tables_of_data()
    )
    made |= {"spread": histograms(), "loss_ratios": ratios(), "doses": doses()}
    return {name: tidy.expand(tidy.frame(rows)) for name, rows in made.items()}


def draw(tables, name):
    return getattr(iclmem_figures, name)(tables[name])


def legend(figure):
    return [text.get_text() for text in figure.legends[0].get_texts()]


def titles(figure):
    return [axes.get_title() for axes in figure.axes]


def line(axes, colour, marker):
    (observed,) = (
        one
        for one in axes.get_lines()
        if to_hex(one.get_color()) == to_hex(colour) and one.get_marker() == marker and len(one.get_xdata())
    )
    return observed


def look(figure, label):
    (handle,) = (one for one in figure.legends[0].legend_handles if one.get_label() == label)
    return handle.get_color(), handle.get_marker()


def dots(figure, axes, label):
    """What stands where: name of the line, its value, of the dots with this look."""
    observed = line(axes, *look(figure, label))
    names = [text.get_text() for text in figure.axes[0].get_yticklabels()]
    return {names[round(y)]: x for x, y in zip(observed.get_xdata(), observed.get_ydata(), strict=True)}


def test_every_outcome_group_and_rule_that_the_evaluation_names_has_a_look():
    assert tuple(iclmem_figures.OUTCOMES) == outcome_rules.OUTCOMES
    assert {"query", "nonmember", "permuted"} == set(iclmem_figures.RECORDS)
    assert NULL_CALIBRATED in iclmem_figures.RULES
    looks = [(colour, marker) for _, colour, marker in iclmem_figures.OUTCOMES.values()]
    assert len(set(looks)) == len(looks)


def test_outcomes_over_epochs_are_the_shares_of_the_table_with_their_intervals(tables):
    figure = draw(tables, "epochs")
    assert legend(figure) == list(outcome_rules.OUTCOMES)
    assert titles(figure) == ["small\nQ = 50", "small\nQ = 512", "", "", "", ""]
    for place, axes in enumerate(figure.axes):
        rule, queries = RULES[place // 2], QUERIES[place % 2]
        for number, outcome in enumerate(outcome_rules.OUTCOMES):
            observed = line(axes, *iclmem_figures.OUTCOMES[outcome][1:])
            expected = [share(rule, outcome, queries, epoch) for epoch in EPOCHS]
            assert list(observed.get_ydata()) == pytest.approx(expected)
            assert np.log(observed.get_xdata() / np.array(EPOCHS)) == pytest.approx(0.02 * np.log(100) * (number - 2))
            ends = [(low, high) for (_, low), (_, high) in axes.collections[number].get_segments()]
            assert np.array(ends) == pytest.approx(np.array(expected)[:, None] + [-0.05, 0.1])
        assert [text.get_text() for text in axes.get_xticklabels()] == ["1", "10", "100"]
        shown = [drawn for one in axes.lines for drawn in one.get_xdata()]
        assert axes.get_xlim()[0] < min(shown) < max(shown) < axes.get_xlim()[1]
    labels = [axes.get_ylabel() for axes in figure.axes[::2]]
    assert labels == [f"share of runs\n{label}" for label in LABELS]


def test_each_rule_has_dots_of_its_own_beside_each_outcome(tables):
    figure = draw(tables, "outcomes")
    assert titles(figure) == ["small, Q = 50", "small, Q = 512"]
    assert legend(figure) == LABELS
    assert [text.get_text() for text in figure.axes[0].get_yticklabels()] == list(outcome_rules.OUTCOMES)[::-1]
    for axes, queries in zip(figure.axes, QUERIES, strict=True):
        for place, (rule, label) in enumerate(zip(RULES, LABELS, strict=True)):
            expected = {outcome: share(rule, outcome, queries) for outcome in outcome_rules.OUTCOMES}
            assert dots(figure, axes, label) == pytest.approx(expected)
            ends = [(low, high) for (low, _), (high, _) in axes.collections[place].get_segments()]
            assert np.array(ends) == pytest.approx(np.array(list(expected.values()))[:, None] + [-0.05, 0.1])


def test_shares_over_all_models_have_panels_where_there_are_several(tables):
    one = tables["outcomes"]
    other = one[one["by"] == "queries"].assign(model="numbers")
    figure = iclmem_figures.outcomes(pd.concat([one, other], ignore_index=True))
    names = ("small", "all models", "numbers")
    assert sorted(titles(figure)) == sorted(f"{name}, Q = {queries}" for name in names for queries in QUERIES)
    axes = figure.axes[titles(figure).index("all models, Q = 50")]
    expected = {outcome: share("mine", outcome) / 2 for outcome in outcome_rules.OUTCOMES}
    assert dots(figure, axes, "mine") == pytest.approx(expected)
    figure = iclmem_figures.outcomes(pd.concat([one, other[other["queries"] == 50]], ignore_index=True))
    assert [title for title in titles(figure) if title.startswith("all models")] == ["all models, Q = 50"]


def test_published_rules_are_blue_and_ours_is_not(tables):
    figure = draw(tables, "outcomes")
    (first, one), (second, other), (ours, _) = (look(figure, label) for label in LABELS)
    assert first == second == figure_style.BLUE
    assert one != other
    assert ours == figure_style.PURPLE


def test_effects_are_those_on_the_loss_by_category_without_the_baseline(tables):
    figure = draw(tables, "manipulations")
    (axes,) = figure.axes
    assert legend(figure) == ["all runs without collapse", *LABELS, "chance"]
    for runs, label in zip(("all", *RULES), legend(figure), strict=False):
        expected = {name.replace("_", " "): 0.01 * place + 0.001 * len(runs) for place, name in enumerate(CATEGORIES)}
        del expected["baseline"]
        assert dots(figure, axes, label) == pytest.approx(expected)
    (zero,) = (one for one in axes.get_lines() if one.get_linestyle() == "--")
    assert list(zero.get_xdata()) == [0, 0]


def test_flags_of_members_stand_beside_those_of_permuted_memberships(tables):
    figure = draw(tables, "flags")
    query, permuted = (iclmem_figures.RECORDS[name][0] for name in ("query", "permuted"))
    assert legend(figure) == [query, permuted]
    assert dots(figure, figure.axes[0], query) == pytest.approx({"raw TPR": 0.5, "calibrated TPR": 0.2})
    assert dots(figure, figure.axes[0], permuted) == pytest.approx({"raw TPR": 0.45, "calibrated TPR": 0.45})


def test_placebo_rates_of_runs_and_settings_stand_beside_the_nominal_one(tables):
    figure = draw(tables, "false_detections")
    assert titles(figure) == list(iclmem_figures.STAGES.values())
    assert legend(figure) == ["small", "all models", "nominal rate"]
    expected = [
        {"as written, larger": 0.6 - less, "null calibrated, loss": 0.04 - less} for less in (0.01, 0.03, 0, 0.02)
    ]
    expected.append({"as written, larger": 0.3, "null calibrated, loss": 0.02})
    for axes, label, values in zip(
        figure.axes, ("small", "small", "small", "small", "all models"), expected, strict=True
    ):
        assert dots(figure, axes, label) == pytest.approx(values)
        (nominal,) = (one for one in axes.get_lines() if one.get_linestyle() == "--")
        assert list(nominal.get_xdata()) == [0.05, 0.05]


def test_survival_is_that_of_all_labels_and_the_legend_counts_detections(tables):
    figure = draw(tables, "survival")
    assert titles(figure) == ["runs", "settings"]
    assert legend(figure) == [f"{label}: {90 - i} runs, {8 - i} settings" for i, label in enumerate(LABELS)]
    for place, label in enumerate(legend(figure)):
        observed = dots(figure, figure.axes[0], label)
        expected = {
            iclmem_figures.CHECKS[check]: 0.2 + 0.1 * place + 0.005 * len(check) for check in ("p-value", "setting")
        }
        assert observed == pytest.approx(expected)
        assert list(dots(figure, figure.axes[1], label)) == [iclmem_figures.CHECKS["setting"]]


def test_a_data_set_stands_at_its_labels_and_majority_in_the_colour_of_its_outcome(tables):
    figure = draw(tables, "cardinality")
    assert titles(figure) == ["Q = 50", "Q = 512"]
    assert legend(figure) == ["collapse", "detectable"]
    for axes in figure.axes:
        for label, point in (("collapse", (3, 0.4)), ("detectable", (33, 0.1))):
            observed = line(axes, *look(figure, label))
            assert (observed.get_xdata()[0], observed.get_ydata()[0]) == pytest.approx(point)
        assert [text.get_text() for text in axes.texts] == list(DATASETS)


def test_panels_are_in_the_order_of_the_queries_not_of_their_names(tables):
    table = tables["cardinality"]
    assert titles(iclmem_figures.cardinality(table.replace({"queries": {50.0: 1000.0}}))) == ["Q = 512", "Q = 1000"]


def test_detectable_shares_stand_against_density_and_coverage(tables):
    figure = draw(tables, "density")
    labels = [axes.get_ylabel() for axes in figure.axes]
    assert labels == ["detectable share, Q = 50", "", "detectable share, Q = 512", ""]
    for number, axes in enumerate(figure.axes):
        queries = QUERIES[number // 2]
        expected = (130, 30) if number % 2 == 0 else (queries / 4000, queries / 2000)
        for place, label in enumerate(LABELS):
            observed, shares = line(axes, *look(figure, label)), np.array([0.3, 0.4]) + 0.02 * place
            assert list(observed.get_ydata()) == pytest.approx(shares)
            ends = [(low, high) for (_, low), (_, high) in axes.collections[place].get_segments()]
            assert np.array(ends) == pytest.approx(shares[:, None] + [-0.05, 0.1])
            assert np.log(observed.get_xdata() / np.array(expected)) == pytest.approx(0, abs=0.1)


def test_a_number_of_queries_that_one_data_set_alone_has_shows_no_dependence(tables):
    table = tables["density"]
    alone = table[(table["queries"] == 512) & (table["dataset"] != DATASETS[0])].index
    assert [axes.get_ylabel() for axes in iclmem_figures.density(table.drop(alone)).axes] == [
        "detectable share, Q = 50",
        "",
    ]


def test_a_histogram_has_the_bins_of_each_group(tables):
    figure = draw(tables, "spread")
    assert titles(figure) == [f"{dataset}\nslow, epoch 10" for dataset in DATASETS]
    assert legend(figure) == [iclmem_figures.RECORDS[name][0] for name in ("query", "nonmember")]
    for axes in figure.axes:
        outlines = [patch.get_data() for patch in axes.patches if not patch.get_fill()]
        values = {tuple(np.round(values, 3)) for values, _, _ in outlines}
        assert values == {(0.2, 0.8), (0.3, 0.7)}
        assert all(list(edges) == [-1, 0, 1] for _, edges, _ in outlines)


def test_loss_ratios_have_a_line_for_each_rate_from_the_smallest(tables):
    figure = draw(tables, "loss_ratios")
    assert legend(figure) == ["learning rate 0.0001", "learning rate 0.1"]
    outlines = [patch.get_data() for patch in figure.axes[0].patches if not patch.get_fill()]
    assert [list(values) for values, _, _ in outlines] == [[0.75, 0.25], [0.0, 1.0]]
    assert figure.axes[0].get_xscale() == "log"


LEFT_OUT = {
    "epochs": {"outcome": "no signal"},
    "outcomes": {"rule": NULL_CALIBRATED},
    "manipulations": {"runs": "mine"},
    "flags": {"records": "permuted"},
    "false_detections": {"of": "setting"},
    "survival": {"rule": "mine"},
    "cardinality": {"outcome": "detectable"},
    "density": {"rule": "mine"},
    "spread": {"records": "nonmember"},
    "loss_ratios": {"learning_rate": 0.1},
    "doses": {"signal": "entropy"},
}


@pytest.mark.parametrize("name", FIGURES)
def test_what_is_missing_is_left_out_and_not_invented(tables, name):
    ((key, gone),) = LEFT_OUT[name].items()
    table = tables[name]
    before, after = draw(tables, name), getattr(iclmem_figures, name)(table[table[key] != gone])
    removed = [label for label in legend(before) if label not in legend(after)]
    assert len(removed) == 1
    assert set(legend(after)) < set(legend(before))
    after.draw_without_rendering()


@pytest.mark.parametrize("name", FIGURES)
def test_what_one_panel_lacks_leaves_the_others_as_they_are(tables, name):
    table = tables[name]
    key = next(key for key in ("queries", "dataset", "of", "model") if key in table)
    first = table[key].dropna().iloc[0]
    figure = getattr(iclmem_figures, name)(table[(table[key] == first) | table[key].isna()])
    assert titles(figure)[0] == titles(draw(tables, name))[0]
    figure.draw_without_rendering()


@pytest.mark.parametrize("name", FIGURES)
def test_no_row_is_an_error_in_one_line(tables, name):
    for table in (tables[name].iloc[:0], tables[name].assign(metric="none of them")):
        with pytest.raises(AuditError, match=rf"^figure iclmem_{name}: .*; .*`where`$"):
            getattr(iclmem_figures, name)(table)


@pytest.mark.parametrize("name", FIGURES)
def test_two_rows_for_one_point_are_an_error_and_not_a_zigzag(tables, name):
    with pytest.raises(AuditError, match="two rows are for"):
        getattr(iclmem_figures, name)(pd.concat([tables[name]] * 2))


@pytest.mark.parametrize("name", FIGURES)
def test_a_name_from_data_is_not_read_as_a_formula(tables, name):
    table = tables[name].replace({"wine": r"a$\frac$b", "small": r"a$\frac$b", "mine": r"a$\frac$b"})
    getattr(iclmem_figures, name)(table).draw_without_rendering()


@pytest.mark.parametrize("name", ["epochs", "false_detections", "cardinality", "spread"])
def test_saving_twice_gives_equal_bytes(tables, tmp_path, name):
    for copy in ("a", "b"):
        with mpl.rc_context(figure_style.RC):
            draw(tables, name).savefig(tmp_path / f"{copy}.svg", metadata=figure_style.METADATA["svg"])
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
