"""Answers share an axis, mark only finite numbers, and flag an interval that includes its null."""

import re

import numpy as np
import pandas as pd
import pytest
from report_examples import headline, results

from memaudit.claims.headlines import state
from memaudit.report import page_tables
from memaudit.report.headline_answers import answers
from memaudit.report.report_page import TEMPLATES
from memaudit.templating.page_templates import environment


def test_an_answer_whose_interval_includes_chance_says_so():
    first, second = answers(state("demo", [headline()], results()))["What has the model memorized?"]
    assert first.by_chance == []
    assert second.by_chance == ["auc"]


def test_marks_stand_in_the_order_of_their_numbers_and_share_an_axis():
    found = answers(state("demo", [headline(scale="log")], results()))["What has the model memorized?"]
    wine, iris = (one.marks[0] for one in found)
    assert wine.null < wine.low < wine.estimate < wine.high
    # From 0.45 to 0.7 on a logarithmic axis with margins of 4.
    assert wine.estimate == pytest.approx(4 + 92 * np.log(0.6 / 0.45) / np.log(0.7 / 0.45), abs=0.01)
    assert iris.low < iris.null == wine.null
    assert iris.high == wine.high


def drawn(scale, *numbers):
    """Marks and page of one sentence on one axis; numbers: estimate, low, high, null of each value."""
    columns = ["estimate", "low", "high", "null"]
    facts = {"study": "demo", "answers": "memorized", "headline": 0, "sentence": "s", "scale": scale}
    table = pd.DataFrame(numbers, columns=columns, dtype=float).assign(value="v", **facts)
    (answer,) = answers(table)["What has the model memorized?"]
    macros = environment(TEMPLATES, filters={"highlighted": page_tables.highlighted, "marked": page_tables.marked})
    markup = str(macros.get_template("parts.html").module.answer(answer))
    assert not re.search("nan|inf\\b|None", markup)
    return [(mark.estimate, mark.low, mark.high, mark.null) for mark in answer.marks], markup


def test_an_estimate_that_is_not_finite_is_not_drawn():
    for estimate in (np.nan, np.inf):
        ((place, *others),), markup = drawn("log", (estimate, 0.1, 1, 0.5))
        assert place is None
        assert None not in others
        assert "<circle" not in markup
    assert drawn("linear", (np.nan, np.nan, np.nan, np.inf))[0] == [(None,) * 4]


def test_an_axis_of_one_number_puts_it_in_the_middle():
    for scale, number in (("log", 0), ("linear", 0), ("log", 1e300), ("linear", 1e300), ("linear", -2)):
        assert drawn(scale, [number] * 4)[0] == [(50,) * 4]


def test_zeros_on_a_logarithmic_axis_stand_at_its_start():
    assert drawn("log", (0.1, 0, 1, 0.01))[0] == [(50, 4, 96, 4)]
    assert drawn("log", (0, 0, 0.5, 0))[0] == [(4, 4, 96, 4)]


def test_a_value_without_interval_and_null_is_not_drawn():
    marks, _ = drawn("linear", (0.5, 0.4, 0.6, np.nan), (0.3, np.nan, np.nan, 0.5), (0.995, np.nan, np.nan, np.nan))
    assert marks == [
        (pytest.approx(65 + 1 / 3, abs=0.01), pytest.approx(34 + 2 / 3, abs=0.01), 96, None),
        (4, None, None, pytest.approx(65 + 1 / 3, abs=0.01)),
    ]
