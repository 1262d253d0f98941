"""Parts that figures share: rows are selected or named as missing, looks are fixed, ticks do not crowd."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from memaudit.common.errors import AuditError
from memaudit.plotting import figure_style, shared_panels

LOOKS = {"a": ("first", "blue", "o"), "b": ("second", "red", "s")}


@pytest.fixture
def table():
    return pd.DataFrame(
        {"metric": ["auc", "auc", "tpr"], "fpr": ["0.1", "0.01", None], "estimate": [0.6, 0.7, 0.1]}
    ).assign(dataset="wine")


@pytest.fixture
def axes():
    return Figure().subplots()


def labels(axes):
    return [label.get_text() for label in axes.get_xticklabels()]


def test_rows_are_selected_by_their_keys_and_a_number_is_parsed(table):
    assert shared_panels.rows(table, "f", "fpr", metric="auc", dataset=None)["fpr"].tolist() == [0.1, 0.01]
    assert len(shared_panels.rows(table, "f", metric=["auc", "tpr"])) == 3


def test_a_figure_without_rows_is_an_error_that_names_them(table):
    with pytest.raises(AuditError, match=r"^figure f: no row has metric mi, arm; evaluate that, or widen `where`$"):
        shared_panels.rows(table, "f", metric="mi", arm=None)


def test_two_rows_for_one_point_are_an_error(table):
    assert shared_panels.single(table, ["metric", "fpr"]) is table
    with pytest.raises(AuditError, match="two rows are for dataset wine, metric auc; choose one"):
        shared_panels.single(table, ["dataset", "metric"])


def test_looks_are_distinct_and_those_that_occur_keep_their_order():
    looks = shared_panels.looks(["x", "y", "x"])
    assert list(looks) == ["x", "y"]
    assert len(set(looks.values())) == 2
    assert list(shared_panels.present(LOOKS, ["b", "a", "c"])) == ["a", "b"]
    assert shared_panels.unmarked(LOOKS)["b"] == ("second", "red", "")


def test_ticks_stand_at_the_values_and_crowded_ones_are_left_out(axes):
    shared_panels.ticks(axes, [64, 16, 16, 17, 256], base=2, most=12)
    assert axes.get_xscale() == "log"
    assert labels(axes) == ["16", "64", "256"]
    shared_panels.ticks(axes, [64, 16, 17, 256], base=2)
    assert labels(axes) == ["16", "17", "64", "256"]


def test_one_value_has_one_tick(axes):
    shared_panels.ticks(axes, [0.5], form=".2f", most=8)
    assert labels(axes) == ["0.50"]


def test_intervals_stand_at_their_estimates(axes):
    rows = pd.DataFrame({"estimate": [0.5, 0.6], "low": [0.4, 0.5], "high": [0.7, 0.8]})
    shared_panels.intervals(axes, pd.Series([1, 2]), rows, LOOKS["a"], line={"linestyle": ""})
    shared_panels.intervals_across(axes, rows, np.array([1, 2]), LOOKS["a"])
    upright, level = axes.collections
    assert upright.get_segments()[1] == pytest.approx(np.array([[2, 0.5], [2, 0.8]]))
    assert level.get_segments()[1] == pytest.approx(np.array([[0.5, 2], [0.8, 2]]))
    assert [line.get_marker() for line in axes.lines] == ["o", "o"]


def test_a_long_legend_takes_more_lines_and_a_higher_figure():
    figure = Figure(figsize=(figure_style.ONE_COLUMN, 2))
    shared_panels.legend(figure, {name: (name * 60, "blue", "o") for name in "abc"})
    assert figure.get_figheight() == pytest.approx(2 + 2 * 0.15)
