"""As many of the hundred figures are filled as accusations are right."""

import re

import pytest
from audit_examples import value

from memaudit.auditing.page.figures.icon_arrays import BOX, FIGURE, icon_array
from memaudit.auditing.summaries.summary import Value


def figures(drawing, paint):
    found = re.search(rf'<path class="{paint}"[^>]* d="([^"]*)"', drawing)
    return found[1].count("M") if found else 0


@pytest.mark.parametrize(("share", "filled"), [(0.0, 0), (0.074, 7), (0.89, 89), (1.0, 100)])
def test_filled_and_empty_figures_make_a_hundred(share, filled):
    one = icon_array(value(share, max(0, share - 0.1), min(1, share + 0.1), 0.05), 0.05, "records", True)
    assert figures(one.drawing, "person") == filled
    assert figures(one.drawing, "absent") == 100 - filled
    assert f"{filled} of 100 figures are filled" in one.caption
    assert one.name == "people-5"


def test_chance_is_said_and_a_missing_precision_is_left_out():
    assert "not distinguishable from chance" in icon_array(value(0.5, 0.4, 0.6), 0.5, "persons", False).caption
    missing = icon_array(Value(estimate=None), 0.001, "records", False)
    assert (missing.name, missing.drawing) == ("people-0-1", None)
    assert "nobody was accused" in missing.reason


def test_where_no_people_are_accused_as_many_boxes_are_drawn():
    one = icon_array(value(0.3, 0.2, 0.4, 0.05), 0.05, "modules", True, figure=BOX)
    assert figures(one.drawing, "person") == 30
    assert BOX in one.drawing
    assert FIGURE not in one.drawing
