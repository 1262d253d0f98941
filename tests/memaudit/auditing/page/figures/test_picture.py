"""Numbers of captions, and pictures that are left out."""

from memaudit.auditing.page.figures.picture import Picture, change, interval, known
from memaudit.auditing.summaries.summary import Value


def test_numbers_are_printed_as_on_the_page():
    value = Value(estimate=0.7149, low=-0.0001, high=0.77)
    assert interval(value) == "0.71 [0.00, 0.77]"
    assert interval(value, 1, 100) == "71.5 [0.0, 77.0]"
    assert change(value) == "+0.71 [+0.00, +0.77]"


def test_a_value_without_an_interval_is_not_known():
    assert known(Value(estimate=0.5, low=0.4, high=0.6))
    assert not known(Value(estimate=0.5))
    assert not known(None)


def test_a_picture_is_left_out_for_a_reason():
    left = Picture("roc", "ROC", "caption", drawing="<svg>").without("why")
    assert (left.drawing, left.caption, left.reason) == (None, "", "why")
