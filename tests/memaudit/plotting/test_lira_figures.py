"""Figures are drawn from tidy rows, hold every series, and are equal byte for byte."""

import itertools

import numpy as np
import pandas as pd
import pytest

from memaudit.common import tidy
from memaudit.plotting import figure_style, lira_figures

DATASETS, FPRS, MODELS = ("wine", "breast_cancer"), (0.1, 0.01), (16, 64, 256)


@pytest.fixture
def rates():
    rows = [
        tidy.row(
            "lira",
            {"dataset": dataset, "access": access, "models": models, "fpr": fpr, "strategy": strategy},
            "tpr",
            fpr * 2 + 1 / models,
            low=fpr,
            high=fpr * 3 + 1 / models,
        )
        for dataset in DATASETS
        for access in ("efficient", "oracle")
        for models in MODELS
        for fpr in FPRS
        for strategy in lira_figures.STRATEGIES
    ]
    return tidy.expand(tidy.frame(rows))


@pytest.fixture
def records():
    rng = np.random.default_rng(0)
    norm = rng.uniform(20, 25, 40)
    columns = {"norm": norm, "empirical": 0.7 * norm, "corrected": norm, "analytic": norm, "fraction": 0.5}
    parts = [pd.DataFrame(columns | {"side": side}) for side in ("in", "out")]
    return pd.concat(parts).assign(before=0.7 + 0.01 * rng.standard_normal(80), after=1.0, factor=0.5)


def legend(figure):
    return [text.get_text() for text in figure.legends[0].get_texts()]


def labels(looks):
    return [label for label, *_ in looks.values()]


def test_strategies_has_a_panel_for_each_data_set_and_rate_with_every_line(rates):
    figure = lira_figures.strategies(rates)
    assert len(figure.axes) == len(DATASETS) * len(FPRS)
    assert legend(figure) == [*labels(lira_figures.STRATEGIES), "guessing"]
    for axes in figure.axes:
        drawn = [line for line in axes.get_lines() if len(line.get_xdata()) == len(MODELS)]
        assert {line.get_color() for line in drawn} == {look[1] for look in lira_figures.STRATEGIES.values()}
        assert len(axes.collections) == len(lira_figures.STRATEGIES)


def test_nulls_are_drawn_like_strategies(rates):
    figure = lira_figures.nulls(rates.assign(metric="null_tpr"))
    assert len(figure.axes) == len(DATASETS) * len(FPRS)
    assert legend(figure) == [*labels(lira_figures.STRATEGIES), "guessing"]


def test_scores_have_a_panel_for_the_auc_and_each_low_rate_and_no_differences():
    names = [*lira_figures.SCORES, "rmia - lira mean"]
    metrics = ("auc", "tpr@0.1", "tpr@0.01", "tpr@0.001")
    rows = [
        tidy.row("lira", {"dataset": dataset, "models": models, "attack": name}, metric, 0.5, low=0.4, high=0.6)
        for dataset in DATASETS
        for models in MODELS
        for name in names
        for metric in (metrics if name in lira_figures.SCORES else [f"{metric} difference" for metric in metrics])
    ]
    figure = lira_figures.scores(tidy.expand(tidy.frame(rows)))
    titles = [axes.get_title() for axes in figure.axes]
    assert titles[:3] == ["AUC", "TPR at FPR 0.01", "TPR at FPR 0.001"]
    assert len(figure.axes) == 3 * len(DATASETS)
    assert legend(figure) == [*labels(lira_figures.SCORES), "guessing"]


def test_values_and_bands_are_drawn_as_they_come(rates):
    axes = lira_figures.strategies(rates[rates["strategy"] == "pp"]).axes[0]
    line = next(line for line in axes.get_lines() if len(line.get_xdata()) == len(MODELS))
    assert list(line.get_xdata()) == list(MODELS)
    assert line.get_ydata() == pytest.approx([0.2 + 1 / models for models in MODELS])
    vertices = axes.collections[0].get_paths()[0].vertices[:, 1]
    assert (vertices.min(), vertices.max()) == pytest.approx((0.1, 0.3 + 1 / 16))


def test_oracle_draws_oracle_rows_only(rates):
    only = rates.assign(estimate=np.where(rates["access"] == "oracle", 0.9, 0.1))
    lines = [line for axes in lira_figures.oracle(only).axes for line in axes.get_lines() if len(line.get_xdata()) == 3]
    assert lines
    assert all((line.get_ydata() == 0.9).all() for line in lines)


def test_limits_of_the_per_sample_threshold_are_marked_where_they_are_in_sight(rates):
    at_tenth, at_hundredth, *_ = (
        {text.get_text() for text in axes.texts} for axes in lira_figures.strategies(rates).axes
    )
    assert "2/FPR" in at_tenth
    assert "1/FPR" not in at_tenth
    assert {"1/FPR", "2/FPR"} <= at_hundredth


def test_marks_of_two_limits_do_not_overlap_in_a_narrow_panel(rates):
    figure = lira_figures.strategies(rates)
    figure.set_size_inches(2.5, 6)
    figure.draw_without_rendering()
    for axes in figure.axes:
        boxes = [text.get_window_extent() for text in axes.texts if text.get_text().endswith("/FPR")]
        assert not any(one.overlaps(other) for one, other in itertools.combinations(boxes, 2))


def test_labels_of_vertical_lines_stand_above_the_panel_where_no_data_are(rates):
    figure = lira_figures.strategies(rates)
    found = [text for axes in figure.axes for text in axes.texts if text.get_text().endswith("/FPR")]
    assert found
    assert all((text.xy[1], text.get_va()) == (1, "bottom") for text in found)


def test_sample_fpr_is_the_share_of_records_at_or_above():
    table = pd.DataFrame({"dataset": "wine", "strategy": "naive", "fpr": 0.1, "sample_fpr": [0.4, 0.1, 0.2, 0.1]})
    line = lira_figures.sample_fpr(table).axes[0].get_lines()[0]
    assert list(zip(line.get_xdata(), line.get_ydata(), strict=True))[2:] == [(0.2, 0.5), (0.4, 0.25)]


def test_roc_has_the_diagonal_and_a_curve_per_strategy():
    rows = [
        tidy.row("lira", {"dataset": "wine", "strategy": strategy, "fpr": fpr}, "roc_tpr", fpr**0.5, low=fpr, high=1)
        for strategy in ("naive", "pp")
        for fpr in (0.001, 0.1, 1.0)
    ]
    figure = lira_figures.roc(tidy.expand(tidy.frame(rows)))
    diagonal, *curves = figure.axes[0].get_lines()
    assert list(diagonal.get_xdata()) == list(diagonal.get_ydata())
    assert len(curves) == 2
    assert legend(figure) == ["concatenated, naive", "concatenated, PP", "guessing"]


def test_predictions_of_a_population_stand_beside_its_measurement():
    rates = {("predicted_tpr", "false"): 0.3, ("predicted_tpr", "true"): 0.2, ("measured_tpr", "measured"): 0.21}
    rows = [
        tidy.row(
            "lira", {"dataset": name, "fpr": fpr, "corrected": corrected}, metric, rate, low=rate, high=rate, null=fpr
        )
        for name in DATASETS
        for fpr in FPRS
        for (metric, corrected), rate in (rates | {("measured_fpr", "measured"): fpr}).items()
    ]
    figure = lira_figures.fpc_population(tidy.expand(tidy.frame(rows)))
    assert [axes.get_title() for axes in figure.axes] == ["FPR 0.1", "FPR 0.01"]
    for axes, fpr in zip(figure.axes, FPRS, strict=True):
        *marks, dashed = axes.get_lines()
        assert [list(line.get_xdata()) for line in marks] == [[rate] * 2 for rate in (0.3, 0.2, 0.21, fpr)]
        assert list(dashed.get_xdata()) == [fpr, fpr]
    assert legend(figure) == [label for label, *_ in lira_figures.POPULATION.values()] + ["guessing"]


def test_finite_population_figures_show_both_sides(records):
    assert [axes.get_title() for axes in lira_figures.fpc_sigma(records).axes] == ["IN models", "OUT models"]
    assert len(lira_figures.fpc_fraction(pd.concat([records, records.assign(fraction=0.125)])).axes) == 4
    assert len(legend(lira_figures.fpc_ratio(records))) == 4


def test_a_name_from_data_is_not_read_as_a_formula(rates, tmp_path):
    figure_style.save(lira_figures.strategies(rates.assign(dataset=r"a$\frac$b")), tmp_path / "figure")
    assert (tmp_path / "figure.png").stat().st_size > 0
