"""The figures of private in-context learning hold what the table holds, name it, and stand when a piece is missing."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex

from memaudit.common import tidy
from memaudit.common.errors import AuditError
from memaudit.plotting import figure_style, tabpate_figures

DATASETS, RATES, EPSILONS = ("wine", "breast_cancer"), (0.001, 0.1, 1.0), (1, 10)
# As the scripts write them: by name. One of them is not shipped.
CONDITIONS = ("as_published", "class_moments", "mine", "prompt_pate")
IN_ORDER = ["class_moments", "as_published", "prompt_pate", "mine"]
FIGURES = ("roc", "utility", "answers", "queries", "regression")


def row(metric, estimate, null, **keys):
    return tidy.row("tabpate", keys, metric, estimate, low=estimate * 0.9, high=estimate * 1.1, null=null)


def value(arm, epsilon, dataset="wine"):
    return 0.5 + 0.05 * CONDITIONS.index(arm) + epsilon / 100 + 0.01 * DATASETS.index(dataset)


def worth(metric, null):
    """As of `tabpate_measure_utility.py`: with differences, deviations and counts, which are other metrics."""
    rows = []
    for dataset in DATASETS:
        for arm in ("non_private", "non_private_shared", "majority"):
            rows.append(row(metric, 0.85, null, dataset=dataset, arm=arm, approach=arm, epsilon="inf"))
        for arm in CONDITIONS:
            for epsilon in EPSILONS:
                keys = {"dataset": dataset, "arm": arm, "approach": "tabpate", "epsilon": epsilon}
                rows.append(row(metric, value(arm, epsilon, dataset), null, **keys))
                rows.append(row(f"{metric} deviation between repeats", 0.1, np.nan, **keys))
                rows.append(tidy.row("tabpate", keys, "asked", 500))
                rows.append(tidy.row("tabpate", keys, "answered", 10 * epsilon * CONDITIONS.index(arm)))
                rows.append(row(f"{metric} difference", 0.2, 0.0, **keys | {"arm": f"{arm} - non_private"}))
    return rows


def curves():
    pairs = [("non_private", "inf"), *((arm, epsilon) for arm in CONDITIONS[:2] for epsilon in EPSILONS)]
    keys = [
        {
            "dataset": dataset,
            "arm": arm,
            "epsilon": epsilon,
            "attack": "lira",
            "records": "members",
            "fpr": f"{fpr:.6g}",
        }
        for dataset in DATASETS
        for arm, epsilon in pairs
        for fpr in RATES
    ]
    return [
        row("roc_tpr", height(key["arm"], key["epsilon"], float(key["fpr"])), float(key["fpr"]), **key) for key in keys
    ]


def height(arm, epsilon, fpr):
    """Another curve for each arm and epsilon."""
    return fpr ** {"non_private": 0.2, "as_published": 0.5, "class_moments": 0.6}[arm] * (0.9 if epsilon == 10 else 1)


@pytest.fixture(scope="module")
def tables():
    accuracy = worth("balanced accuracy", 0.5)
    made = {"roc": curves(), "regression": worth("nrmse", 1.0)}
    made |= dict.fromkeys(("utility", "answers", "queries"), accuracy)
    return {name: tidy.expand(tidy.frame(rows)) for name, rows in made.items()}


def legend(figure):
    return [text.get_text() for text in figure.legends[0].get_texts()]


def titles(figure):
    return [axes.get_title() for axes in figure.axes]


def lines(axes, colour, marker=None):
    return [
        line
        for line in axes.get_lines()
        if to_hex(line.get_color()) == to_hex(colour) and marker in (None, line.get_marker())
    ]


def looks(figure):
    """Colour and marker by the name that the legend gives them."""
    handles = figure.legends[0].legend_handles
    return {handle.get_label(): (handle.get_color(), handle.get_marker()) for handle in handles}


def drawn(axes, look):
    (line,) = (line for line in lines(axes, *look) if len(line.get_xdata()) == len(EPSILONS))
    return line


@pytest.mark.parametrize("name", sorted(set(FIGURES) - {"roc"}))
def test_each_data_set_has_one_panel(tables, name):
    assert titles(getattr(tabpate_figures, name)(tables[name])) == list(DATASETS)


def test_roc_has_a_panel_for_each_data_set_and_epsilon_and_the_model_without_privacy_in_all(tables):
    figure = tabpate_figures.roc(tables["roc"])
    assert titles(figure) == [f"{dataset}, \u03b5 = {epsilon}" for dataset in DATASETS for epsilon in EPSILONS]
    assert legend(figure) == ["non_private", *IN_ORDER[:2], "guessing"]
    for axes, epsilon in zip(figure.axes, EPSILONS * 2, strict=True):
        for arm in ("non_private", *IN_ORDER[:2]):
            curve = lines(axes, tabpate_figures.CONDITIONS[arm][0])[0]
            expected = {fpr: height(arm, "inf" if arm == "non_private" else epsilon, fpr) for fpr in RATES}
            assert dict(zip(curve.get_xdata(), curve.get_ydata(), strict=True)) == pytest.approx(expected)
        assert len(axes.collections) == 3  # a band each
        assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")


@pytest.mark.parametrize("name", ["utility", "regression"])
def test_every_private_condition_is_a_line_of_its_values_near_the_epsilons(tables, name):
    figure = getattr(tabpate_figures, name)(tables[name])
    assert legend(figure) == [*IN_ORDER, "non-private", "guessing"]
    for dataset, axes in zip(DATASETS, figure.axes, strict=True):
        for place, arm in enumerate(IN_ORDER):
            line = drawn(axes, looks(figure)[arm])
            assert line.get_ydata() == pytest.approx([value(arm, epsilon, dataset) for epsilon in EPSILONS])
            shift = np.log2(np.array(line.get_xdata()) / EPSILONS)
            assert shift == pytest.approx(np.full(2, 0.7 / 4 * (place - 1.5)))
        assert [label.get_text() for label in axes.get_xticklabels()] == ["1", "10"]


@pytest.mark.parametrize(("name", "chance"), [("utility", 0.5), ("regression", 1.0)])
def test_no_privacy_is_a_black_line_with_its_band_and_guessing_dashed(tables, name, chance):
    for axes in getattr(tabpate_figures, name)(tables[name]).axes:
        (unprotected,) = (line for line in lines(axes, figure_style.BLACK) if list(line.get_xdata()) == [0, 1])
        assert list(unprotected.get_ydata()) == [0.85, 0.85]
        (band,) = axes.patches
        assert (band.get_y(), band.get_y() + band.get_height()) == pytest.approx((0.765, 0.935))
        (dashed,) = lines(axes, figure_style.GREY)
        assert (list(dashed.get_ydata()), dashed.get_linestyle()) == ([chance, chance], "--")


def test_intervals_are_those_of_the_table(tables):
    figure = tabpate_figures.utility(tables["utility"])
    bars = figure.axes[0].collections[IN_ORDER.index("mine")].get_segments()
    ends = [(low, high) for (_, low), (_, high) in bars]
    assert np.array(ends) == pytest.approx(np.outer([value("mine", epsilon) for epsilon in EPSILONS], (0.9, 1.1)))


def test_a_condition_looks_the_same_in_all_figures_with_markers(tables):
    found = [looks(getattr(tabpate_figures, name)(tables[name])) for name in ("utility", "answers", "regression")]
    for arm in IN_ORDER:
        assert len({look[arm] for look in found}) == 1
    shipped = {arm: look for arm, look in found[0].items() if arm in tabpate_figures.CONDITIONS}
    assert shipped == {arm: tabpate_figures.CONDITIONS[arm] for arm in shipped}
    assert len(set(tabpate_figures.CONDITIONS.values())) == len(tabpate_figures.CONDITIONS)


def test_curves_have_no_markers_and_each_condition_its_own_colour(tables):
    table = tables["roc"].replace({"arm": {"as_published": "class_moments_shared"}})
    for axes in tabpate_figures.roc(table).axes:
        shown = [line for line in axes.get_lines() if line.get_linestyle() == "-"]
        assert {line.get_marker() for line in shown} == {""}
        assert len({line.get_color() for line in shown}) == 3


def test_a_huge_interval_of_few_repeats_does_not_hide_the_errors(tables):
    table = tables["regression"]
    for axes in tabpate_figures.regression(table.assign(high=table["estimate"] + 50)).axes:
        assert axes.get_ylim() == (0, 1.3)


def test_answers_are_counts_of_labels_from_none_on(tables):
    figure = tabpate_figures.answers(tables["answers"])
    assert legend(figure) == IN_ORDER
    for axes in figure.axes:
        for arm in IN_ORDER:
            place = CONDITIONS.index(arm)
            assert list(drawn(axes, looks(figure)[arm]).get_ydata()) == [10 * place, 100 * place]
        assert (axes.get_yscale(), axes.get_ylim()[0]) == ("symlog", 0)


def test_queries_have_a_row_for_each_condition_in_the_tables_order_and_a_colour_for_each_epsilon(tables):
    figure = tabpate_figures.queries(tables["queries"])
    assert legend(figure) == ["\u03b5 = 1", "\u03b5 = 10", "non-private", "guessing"]
    left, right = figure.axes
    assert [label.get_text() for label in left.get_yticklabels()] == list(CONDITIONS)[::-1]
    assert {label.get_text() for label in right.get_yticklabels()} == {""}
    for epsilon, shift in zip(EPSILONS, (0.1, -0.1), strict=True):
        (dots,) = lines(left, *looks(figure)[f"\u03b5 = {epsilon}"])
        placed = {round(y - shift): x for x, y in zip(dots.get_xdata(), dots.get_ydata(), strict=True)}
        assert placed == {3 - place: pytest.approx(value(arm, epsilon)) for place, arm in enumerate(CONDITIONS)}


@pytest.mark.parametrize("name", FIGURES)
def test_one_data_set_one_condition_and_one_epsilon_are_enough(tables, name):
    table = tables[name]
    table = table[(table["dataset"] == "wine") & (table["epsilon"] != 10)]
    table = table[table["arm"].isin(["non_private", "class_moments"])]
    figure = getattr(tabpate_figures, name)(table)
    assert len(figure.axes) == 1
    figure.draw_without_rendering()


@pytest.mark.parametrize("name", FIGURES)
def test_a_condition_without_values_on_a_data_set_is_left_out_there_alone(tables, name):
    table = tables[name]
    figure = getattr(tabpate_figures, name)(table[(table["dataset"] == "wine") | (table["arm"] != "class_moments")])
    full = getattr(tabpate_figures, name)(table)
    assert legend(figure) == legend(full)
    assert titles(figure) == titles(full)


def test_conditions_are_drawn_without_the_model_without_privacy(tables):
    table = tables["utility"]
    for axes in tabpate_figures.utility(table[table["arm"] != "non_private"]).axes:
        assert not lines(axes, figure_style.BLACK)
        assert len(axes.get_lines()) == len(CONDITIONS) + 1


@pytest.mark.parametrize("name", FIGURES)
def test_no_row_is_an_error_in_one_line(tables, name):
    for table in (
        tables[name].iloc[:0],
        tables[name].assign(metric="none of them"),
        tables[name].assign(epsilon=np.inf),
    ):
        with pytest.raises(AuditError, match=rf"^figure tabpate_{name}: .*; .*`where`$"):
            getattr(tabpate_figures, name)(table)


@pytest.mark.parametrize("name", FIGURES)
def test_two_rows_for_one_point_are_an_error_and_not_a_zigzag(tables, name):
    with pytest.raises(AuditError, match="two rows are for dataset wine"):
        getattr(tabpate_figures, name)(pd.concat([tables[name]] * 2))


@pytest.mark.parametrize("name", FIGURES)
def test_a_name_from_data_is_not_read_as_a_formula(tables, name):
    table = tables[name][tables[name]["dataset"] == "wine"].replace({"arm": {"as_published": r"b$\frac$c"}})
    getattr(tabpate_figures, name)(table.assign(dataset=r"a$\frac$b")).draw_without_rendering()


@pytest.mark.parametrize("name", FIGURES)
def test_saving_twice_gives_equal_bytes(tables, tmp_path, name):
    for copy in ("a", "b"):
        figure = getattr(tabpate_figures, name)(tables[name])
        with mpl.rc_context(figure_style.RC):
            figure.savefig(tmp_path / f"{copy}.svg", metadata=figure_style.METADATA["svg"])
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
