"""The figures of prediction hold what the table holds, a panel for each setting, and stand when a piece is missing."""

import pytest
from matplotlib.colors import to_hex

from memaudit.common import tidy
from memaudit.common.errors import AuditError
from memaudit.plotting import figure_style, predict_figures, predict_truth_figures

CASES, EPOCHS, RATES = ("images", "words"), (0.0, 1.0, 4.0), (0.001, 0.1, 1.0)
NAMES = ("psmi", "loss", "lira")


def row(metric, estimate, **keys):
    return tidy.row("predict", keys, metric, estimate, low=estimate - 0.05, high=estimate + 0.05, null=0.5)


def area(case, name, place=0):
    return 0.6 + 0.1 * NAMES.index(name) + 0.02 * CASES.index(case) + 0.01 * place


def measured(case):
    """As of `predict_judge_predictors.py`, and what else it has of the same metrics."""
    for name in NAMES:
        of = {"case": case, "predictor": name}
        for truth, records, rule in (
            ("memorized", "all", "first"),
            ("memorized", "all", "closest instead"),
            ("memorized", "natural", "first"),
            ("canary", "all", "first"),
        ):
            keys = of | {"truth": truth, "records": records, "rule": rule}
            usual = rule == "first" and (truth, records) == ("memorized", "natural")
            yield row("auc", area(case, name) if usual else 0.1, **keys)
        for place, epoch in enumerate(EPOCHS):
            yield row("auc", area(case, name, place), **of, epoch=f"{epoch:g}")
            yield row("auc", area(case, name, place), **of, threshold=f"{epoch:g}")
        for layer in (1, 2) if name == "psmi" else ():
            yield row("auc", area(case, name, layer), **of, layer=layer, layers=2)
    for name, tau, tpr in (("psmi", 0, 0.8), ("lira", 4, 0.2)):
        keys = {"case": case, "predictor": name, "tau": tau}
        yield row("tpr", tpr, **keys)
        yield row("fpr", tpr / 4, **keys)
    for metric in ("tpr", "fpr"):
        yield row(metric, 0.5, case=case, profile="practitioners", predictor="psmi", tau=0)
    for place, epoch in enumerate(EPOCHS):
        for records, times in (("natural", 1), ("all", 2)):
            yield row("memorized", 0.1 * times / (1 + epoch), case=case, records=records, threshold=f"{epoch:g}")
        for cells, sign in (("memorized", -1), ("others", 1)):
            keys = {"case": case, "epoch": f"{epoch:g}", "cells": cells}
            yield row("psmi", 0.1 * sign * place, **keys)
            yield row("already memorized", (0.5 + 0.5 * sign) * 0.1 * place, **keys)
    yield row("interruption", 1.5, case=case, rule="first")
    yield row("spearman", 0.8, case=case, **{"with": "counterfactual memorization"})


def by_record(case):
    for record, kind in enumerate(("natural", "natural", "mislabelled", "canary")):
        names = ("log-lira at the interruption", "log-lira at the end", "attack success", "counterfactual memorization")
        for place, name in enumerate(names):
            yield row(name, 3.0 * record + place, case=case, record=f"r{record}", kind=kind)


@pytest.fixture(scope="module")
def table():
    rows = [one for case in CASES for made in (measured, by_record) for one in made(case)]
    for (truth, rule), case, name, fpr in (
        (of, case, name, fpr)
        for of in (("memorized", "first"), ("canary", "first"), ("memorized", predict_figures.LATER))
        for case in CASES
        for name in NAMES
        for fpr in RATES
    ):
        keys = {"case": case, "truth": truth, "rule": rule, "predictor": name, "fpr": f"{fpr:g}"}
        rows.append(row("roc_tpr", fpr ** (0.2 if truth == "memorized" else 0.1), **keys))
    for rate in (0.05, 0.2):
        for density in predict_truth_figures.DENSITIES:
            for separation in (0.0, 2.0):
                keys = {"simulation": "theorem 1", "rate": rate, "separation": separation, "density": density}
                rows.append(row("psmi_outliers", -separation * rate, **keys))
                rows.append(row("psmi_rest", separation, **keys))
    return tidy.expand(tidy.frame(rows))


FIGURES = [
    "roc",
    "roc_later",
    "planted",
    "auc",
    "threshold",
    "timing",
    "layers",
    "lira_threshold",
    "early",
    "definitions",
]
FIGURES += ["theorem"]


def drawn(axes, colour, count):
    """Values of the lines of a colour that have so many points."""
    observed = [line for line in axes.get_lines() if to_hex(line.get_color()) == to_hex(colour)]
    return [list(line.get_ydata()) for line in observed if len(line.get_xdata()) == count]


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_of_the_rules_can_be_drawn_and_saved_twice_alike(name, table, tmp_path):
    for stem in ("a", "b"):
        figure_style.save(getattr(predict_figures, name)(table), tmp_path / stem)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


@pytest.mark.parametrize("name", ["roc", "layers", "early"])
def test_each_setting_has_a_panel(name, table):
    assert [axes.get_title() for axes in getattr(predict_figures, name)(table).axes] == list(CASES)


def test_planted_records_have_panels_of_their_own(table):
    figure = predict_figures.planted(table)
    assert [axes.get_title() for axes in figure.axes] == [f"{case}: canaries" for case in CASES]
    colour = predict_figures.PREDICTORS["psmi"][1]
    assert drawn(figure.axes[0], colour, 3)[0] == pytest.approx([rate**0.1 for rate in RATES])


def test_areas_are_those_at_the_interruption_by_the_settings_own_rule(table):
    (axes,) = predict_figures.auc(table).axes
    for name in NAMES:
        (line,) = (
            line
            for line in axes.get_lines()
            if to_hex(line.get_color()) == to_hex(predict_figures.PREDICTORS[name][1]) and line.get_marker() != "None"
        )
        assert list(line.get_xdata()) == pytest.approx([area(case, name) for case in CASES])


def test_the_threshold_leaves_recommended_settings_out_and_the_baseline_is_hollow(table):
    (axes,) = predict_figures.threshold(table).axes
    points = {
        line.get_markerfacecolor() == "white": (line.get_xdata()[0], line.get_ydata()[0])
        for line in axes.get_lines()
        if line.get_marker() == "o"
    }
    assert points == {False: (0.2, 0.8), True: (0.05, 0.2)}


def test_timing_has_every_epoch_and_a_line_at_the_interruption(table):
    figure = predict_figures.timing(table)
    above, middle, below = (figure.axes[place] for place in (0, 2, 4))
    assert drawn(above, predict_figures.PREDICTORS["loss"][1], 3) == [
        pytest.approx([area("images", "loss", place) for place in range(3)])
    ]
    assert drawn(middle, predict_figures.OUTCOMES["memorized"][1], 3) == [pytest.approx([0, -0.1, -0.2])]
    assert drawn(below, predict_figures.OUTCOMES["others"][1], 3) == [pytest.approx([0, 0.1, 0.2])]
    assert all(any(list(line.get_xdata()) == [1.5, 1.5] for line in axes.get_lines()) for axes in figure.axes)


def test_nothing_to_draw_gets_one_clear_line(table):
    with pytest.raises(AuditError, match=r"figure predict_layers: no row has"):
        predict_figures.layers(table[table["layer"].isna()])
