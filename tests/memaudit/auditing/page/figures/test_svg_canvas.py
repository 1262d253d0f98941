"""Scales, ticks and elements of drawings."""

from xml.etree import ElementTree

import pytest

from memaudit.auditing.page.figures import svg_canvas
from memaudit.auditing.page.figures.svg_canvas import Plane, Scale, tag, ticks


def test_a_scale_puts_values_between_its_ends():
    linear, decades = Scale(0, 10, 100, 200), Scale(0.01, 1, 300, 0, logarithmic=True)
    assert [linear(value) for value in (-1, 0, 5, 99)] == [100, 100, 150, 200]
    assert [round(decades(value), 6) for value in (0.001, 0.01, 0.1, 1)] == [300, 300, 150, 0]


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [(0, 1, [0, 0.2, 0.4, 0.6, 0.8, 1]), (-0.13, 0.06, [-0.1, -0.05, 0, 0.05]), (0.4, 0.8, [0.4, 0.5, 0.6, 0.7, 0.8])],
)
def test_ticks_are_round_numbers(low, high, expected):
    assert ticks(low, high) == expected


def test_texts_are_escaped_and_paint_stands_as_attributes_too():
    made = tag("text", "<a & b>", paint="dot", stroke_width=3, x=1.23456)
    assert (
        made == '<text class="dot" fill="#0072b2" stroke="#0072b2" stroke-width="3" x="1.23">&lt;a &amp; b&gt;</text>'
    )


def test_a_drawing_is_an_image_with_a_title_and_a_description():
    plane = Plane(Scale(0, 1, 40, 300), Scale(0, 1, 200, 20))
    made = svg_canvas.drawing("one", "Title", "What is seen", 240, plane.axes({0: "0"}, {1: "1"}, "x", "y"))
    root = ElementTree.fromstring(made)
    assert root.get("role") == "img"
    assert [child.get("id") for child in root][:2] == ["one-drawn", "one-described"]
    assert root.get("aria-labelledby") == "one-drawn"
    assert root.get("viewBox") == "0 0 360 240"
