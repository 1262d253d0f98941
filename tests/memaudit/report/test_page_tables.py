"""Tables of the page: cut, with interval and null set apart, and every text escaped."""

import re

import pytest
from markupsafe import escape
from report_examples import EVIL, results

from memaudit.common import tidy
from memaudit.report import page_tables


def test_a_long_table_is_cut_and_knows_its_length():
    entry = {"title": "t", "caption": "c"}
    view = page_tables.of_rows("t", entry, ["name", "x"], [["a", float(number)] for number in range(500)])
    assert (len(view.rows), view.total, view.kinds) == (page_tables.ROWS, 500, ["", "number"])


def test_a_table_without_layout_shows_every_result_with_interval_and_null():
    entry = {"title": "t", "caption": "c", "layout": None}
    view = page_tables.of_results("t", entry, tidy.expand(results()))
    assert view.rows[0] == ["wine", "8", "auc", "0.6 [0.55, 0.7] (0.5)"]


def test_nulls_are_listed_by_metric():
    assert page_tables.nulls({"demo_auc": tidy.expand(results())}) == [["demo_auc", "auc", "0.5", ""]]


@pytest.mark.parametrize("mark", [page_tables.marked, page_tables.highlighted])
def test_markup_in_a_cell_or_a_sentence_is_escaped(mark):
    for text in (f"0.6 [{EVIL}]", f"{EVIL} 0.6 [0.5, 0.7] {EVIL}"):
        assert "<script>" not in escape(mark(text))
    assert "<" in mark("0.6 [0.5, 0.7]")


def test_a_name_with_brackets_is_no_number():
    assert page_tables.marked("offline (cdf)") == "offline (cdf)"
    assert page_tables.marked("0.6 [0.5, -] (0.5)") == "0.6 <small>[0.5, -]</small><small>chance 0.5</small>"


def test_a_sentence_keeps_its_words_around_its_values():
    markup = page_tables.highlighted("AUC 0.6 [0.5, 0.7], TPR -1e-05 [-0.1, 0.1].")
    assert re.sub("<[^>]+>", "", markup) == "AUC 0.6 [0.5, 0.7], TPR -1e-05 [-0.1, 0.1]."
    assert re.findall("<strong>(.+?)</strong>", markup) == ["0.6", "-1e-05"]
