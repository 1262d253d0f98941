"""Figures of the learned attack: every row has its mark, and nothing is drawn twice."""

import pandas as pd
import pytest

from memaudit.common.errors import AuditError
from memaudit.plotting import ltmia_figures

FAMILIES = ["transformer", "state space", "a new one"]


def frame(**columns):
    table = pd.DataFrame(columns)
    table["low"], table["high"] = table["estimate"] - 0.05, table["estimate"] + 0.05
    return table.assign(null=0.5, method="bootstrap")


@pytest.fixture
def transfer():
    keys = [(family, dataset) for family in FAMILIES for dataset in ("prose", "code")]
    table = frame(
        estimate=[0.6 + 0.05 * number for number in range(6)],
        family=[family for family, _ in keys],
        dataset=[dataset for _, dataset in keys],
    )
    return table.assign(metric="auc", attack="lt_mia", model=None)


def test_bars_reach_from_guessing_to_the_rows_and_families_have_their_colours(transfer):
    axes = ltmia_figures.transfer(transfer).axes[0]
    assert {bar.get_y() for bar in axes.patches} == {0.5}
    heights = sorted(round(0.5 + bar.get_height(), 6) for bar in axes.patches)
    assert heights == sorted(transfer["estimate"].round(6))
    assert len({bar.get_facecolor() for bar in axes.patches}) == 3
    assert [label.get_text() for label in axes.get_xticklabels()] == ["prose", "code"]


def test_single_models_are_no_bars_and_two_rows_for_one_are_refused(transfer):
    single = transfer.assign(model="gpt2", estimate=0.99)
    axes = ltmia_figures.transfer(pd.concat([transfer, single])).axes[0]
    assert len(axes.patches) == 6
    with pytest.raises(AuditError, match="two rows are for"):
        ltmia_figures.transfer(pd.concat([transfer, transfer]))
    with pytest.raises(AuditError, match="figure ltmia_transfer: no row"):
        ltmia_figures.transfer(transfer.assign(metric="tpr@0.1"))


def test_importance_leaves_out_the_mean_over_families():
    table = frame(
        estimate=[0.3, 0.2, 0.1, 0.25],
        family=["transformer"] * 3 + ["mean"],
        features=["comparison", "target", "reference", "comparison"],
    )
    figure = ltmia_figures.importance(table.assign(metric="auc drop"))
    assert [round(bar.get_height(), 6) for bar in figure.axes[0].patches] == [0.3, 0.2, 0.1]
    assert [text.get_text() for text in figure.legends[0].get_texts()][-1] == "no effect"


def test_diversity_has_a_line_for_either_kind_of_texts():
    table = frame(estimate=[0.9, 0.8, 0.6, 0.7], combinations=[1, 3, 1, 3], records=["training"] * 2 + ["held out"] * 2)
    axes = ltmia_figures.diversity(table.assign(metric="auc")).axes[0]
    lines = [list(line.get_ydata()) for line in axes.get_lines()]
    assert [0.9, 0.8] in lines
    assert [0.6, 0.7] in lines


def test_the_lead_has_a_panel_by_number_and_one_by_strength_at_the_strength_of_ez():
    keys = {"records": "held out", "metric": "lead over ez"}
    numbers = frame(estimate=[0.01, 0.03], combinations=[1, 9]).assign(**keys)
    (axes,) = ltmia_figures.trend(numbers).axes
    assert list(axes.get_lines()[0].get_ydata()) == [0.01, 0.03]
    strengths = frame(estimate=[0.02, 0.04], strength=["weak", "strong"]).assign(**keys)
    ez = frame(estimate=[0.9, 0.7], strength=["strong", "weak"]).assign(records="training", metric="ez auc")
    _, axes = ltmia_figures.trend(pd.concat([numbers, strengths, ez])).axes
    assert list(axes.get_lines()[0].get_xdata()) == [0.7, 0.9]
    assert [text.get_text() for text in axes.texts] == ["weak", "strong"]


def test_curves_have_a_panel_per_family_on_logarithmic_axes():
    parts = [
        frame(estimate=[0.1, 0.5, 1.0], fpr=["0.01", "0.1", "1"]).assign(dataset=family, attack=attack)
        for family in FAMILIES
        for attack in ("lt_mia", "ez")
    ]
    figure = ltmia_figures.roc(pd.concat(parts).assign(metric="roc_tpr"))
    assert [axes.get_title() for axes in figure.axes] == FAMILIES
    assert {axes.get_xscale() for axes in figure.axes} == {"log"}
    assert len(figure.axes[0].get_lines()) == 5  # two curves, their nulls, the diagonal
