"""Figures of the truth behind predictions: records stand where their values are, and correlations in the titles."""

import numpy as np
import pytest
from matplotlib.colors import to_hex

from memaudit.common import tidy
from memaudit.common.errors import AuditError
from memaudit.plotting import predict_figures, predict_truth_figures

KINDS = ("natural", "natural", "mislabelled", "canary")


def row(metric, estimate, **keys):
    return tidy.row("predict", keys, metric, estimate, low=estimate - 0.05, high=estimate + 0.05, null=np.nan)


@pytest.fixture(scope="module")
def table():
    names = ("log-lira at the interruption", "log-lira at the end", "attack success", "counterfactual memorization")
    rows = [
        row(name, 9.0 * record + place, case="images", record=f"r{record}", kind=kind)
        for record, kind in enumerate(KINDS)
        for place, name in enumerate(names)
    ]
    rows.append(row("tpr", 0.2, case="images", predictor="lira", tau=4))
    rows.append(row("spearman", 0.8, case="images", **{"with": "counterfactual memorization"}))
    for density in predict_truth_figures.DENSITIES:
        for separation in (0.0, 2.0):
            keys = {"simulation": "theorem 1", "rate": 0.2, "separation": separation, "density": density}
            rows += [row("psmi_outliers", -separation * 0.2, **keys), row("psmi_rest", separation, **keys)]
    return tidy.expand(tidy.frame(rows))


def points(axes, kind):
    """Places (record, 2) of the records of a kind."""
    _, colour, marker = predict_truth_figures.KINDS[kind]
    lines = (line for line in axes.get_lines() if line.get_marker() == marker)
    (found,) = (line for line in lines if to_hex(line.get_color()) == to_hex(colour))
    return np.column_stack(found.get_data())


def test_records_stand_at_their_values_and_beyond_the_range_at_its_edge(table):
    (axes,) = predict_truth_figures.early(table).axes
    np.testing.assert_array_equal(points(axes, "natural"), [[0, 1], [9, 10]])
    np.testing.assert_array_equal(points(axes, "canary"), [[20, 20]])
    assert [line.get_ydata()[0] for line in axes.get_lines() if list(line.get_xdata()) == [0, 1]] == [4]


def test_both_definitions_have_a_point_for_each_record_and_the_correlation_above(table):
    (axes,) = predict_truth_figures.definitions(table).axes
    np.testing.assert_array_equal(points(axes, "mislabelled"), [[21, 20]])
    assert axes.get_title() == "images\n0.80 [0.75, 0.85]"


def test_the_theorem_has_a_line_for_each_density_of_outliers_and_of_the_rest(table):
    (axes,) = predict_truth_figures.theorem(table).axes
    ends = [
        line.get_ydata()[-1] for line in axes.get_lines() if len(line.get_xdata()) == 2 and max(line.get_xdata()) == 2
    ]
    assert sorted(ends) == pytest.approx([-0.4] * 3 + [2.0] * 3)
    assert axes.get_title() == "20% outliers"


def test_a_setting_takes_the_place_of_the_data_set(table):
    found = predict_truth_figures.case_rows(table, "early", metric="spearman")
    assert list(found["dataset"]) == ["images"]
    with pytest.raises(AuditError, match="figure predict_early: no row has case, metric auc"):
        predict_truth_figures.case_rows(table, "early", metric="auc")


def test_the_study_draws_them_by_their_names():
    for name in ("early", "definitions", "theorem"):
        assert getattr(predict_figures, name) is getattr(predict_truth_figures, name)
