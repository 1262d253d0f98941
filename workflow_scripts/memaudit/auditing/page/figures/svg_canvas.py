"""Inline SVG without scripts, ids of its own or fixed colours: elements, scales and axes.

Classes are coloured by templates/pictures.css, light and dark; PAINT holds the same paint as attributes, which a style
sheet overrides, for programs that do not apply a page's style sheet to its drawings.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup, escape

WIDTH = 360.0  # of every drawing: at a phone's width its letters are as large as the page's notes
INK, QUIET, LINE, MARK, NULL = "#1a1d21", "#565c64", "#dcdcd6", "#0072b2", "#d55e00"
PAINT: Mapping[str, Mapping[str, Any]] = {
    "label": {"fill": QUIET, "font_size": 12, "font_family": "sans-serif"},
    "strong": {"fill": INK, "font_size": 12, "font_family": "sans-serif"},
    "grid": {"stroke": LINE, "fill": "none"},
    "axis": {"stroke": QUIET, "fill": "none"},
    "null": {"stroke": NULL, "stroke_width": 1.6, "fill": "none"},
    "line": {"stroke": MARK, "stroke_width": 2, "fill": "none"},
    "whisker": {"stroke": MARK, "stroke_width": 5, "stroke_opacity": 0.38, "stroke_linecap": "round", "fill": "none"},
    "band": {"fill": MARK, "fill_opacity": 0.22},
    "dot": {"fill": MARK, "stroke": MARK, "stroke_width": 1.6},
    "ring": {"fill": "#fff", "stroke": MARK, "stroke_width": 1.6},
    "other": {"fill": "#fff", "stroke": QUIET, "stroke_width": 1.6},
    "inside": {"fill": MARK, "fill_opacity": 0.55},
    "outside": {"fill": "none", "stroke": NULL, "stroke_width": 1.6},
    "person": {"fill": MARK},
    "chance": {"fill": QUIET},
    "absent": {"fill": "none", "stroke": QUIET},
    "region": {"fill": QUIET, "fill_opacity": 0.13},
}


def tag(name: str, *children: str, paint: str = "", **attributes: Any) -> Markup:
    """An element; paint: its class, of PAINT; attributes: underscores stand for hyphens, numbers are rounded."""
    attributes = {"class": paint, **PAINT[paint], **attributes} if paint else attributes
    pairs = Markup("").join(Markup(' {}="{}"').format(key.replace("_", "-"), _text(v)) for key, v in attributes.items())
    return Markup("<{0}{1}>{2}</{0}>").format(Markup(name), pairs, Markup("").join(map(escape, children)))


def label(text: str, x: float, y: float, anchor: str = "middle", paint: str = "label", **attributes: Any) -> Markup:
    """A text at a point; anchor: which part of it is there."""
    return tag("text", text, paint=paint, x=x, y=y, text_anchor=anchor, **attributes)


def line(x1: float, y1: float, x2: float, y2: float, paint: str, **attributes: Any) -> Markup:
    """A straight line."""
    return tag("line", paint=paint, x1=x1, y1=y1, x2=x2, y2=y2, **attributes)


def path(points: Iterable[tuple[float, float]], paint: str, closed: bool = False) -> Markup:
    """A line through points, or the area that it encloses."""
    steps = "L".join(f"{_text(x)} {_text(y)}" for x, y in points)
    return tag("path", paint=paint, d=f"M{steps}{'Z' if closed else ''}")


def drawing(name: str, title: str, description: str, height: float, *parts: str) -> Markup:
    """The drawing as an image with a title and a description for those who do not see it; name: prefix of its ids."""
    texts = [tag("title", title, id=f"{name}-drawn"), tag("desc", description, id=f"{name}-described")]
    size = {"viewBox": f"0 0 {WIDTH:g} {height:g}", "role": "img", "focusable": "false"}
    names = {"aria_labelledby": f"{name}-drawn", "aria_describedby": f"{name}-described"}
    return tag("svg", *texts, *parts, **{"class": "drawing", "xmlns": "http://www.w3.org/2000/svg"}, **size, **names)


@dataclass(frozen=True)
class Scale:
    """Positions (px) of values from low to high between start and end; values outside are put at the end."""

    low: float
    high: float
    start: float
    end: float
    logarithmic: bool = False

    def __call__(self, value: float) -> float:
        """The position of a value."""
        value = min(max(value, self.low), self.high)
        low, value, high = (math.log(one) if self.logarithmic else one for one in (self.low, value, self.high))
        return self.start + (self.end - self.start) * (value - low) / (high - low)


@dataclass(frozen=True)
class Plane:
    """Two axes; ticks: texts by value."""

    x: Scale
    y: Scale

    def axes(self, x_ticks: Mapping[float, str], y_ticks: Mapping[float, str], x_title: str, y_title: str) -> Markup:
        """Grid lines, ticks and titles: that of x below, that of y above its axis, where it needs no turned letters."""
        left, right, top, bottom = self.x.start, self.x.end, self.y.end, self.y.start
        parts = [line(left, self.y(at), right, self.y(at), "grid") for at in y_ticks]
        parts += [label(text, left - 5, self.y(at) + 4, "end") for at, text in y_ticks.items()]
        parts += [line(self.x(at), bottom, self.x(at), bottom + 4, "axis") for at in x_ticks]
        parts += [label(text, self.x(at), bottom + 18) for at, text in x_ticks.items()]
        parts += [line(left, bottom, right, bottom, "axis")]
        parts += [label(x_title, (left + right) / 2, bottom + 34)]
        parts += [label(y_title, 2, top - 10, "start")] if y_title else []
        return Markup("").join(parts)


def ticks(low: float, high: float, most: int = 5) -> list[float]:
    """Round numbers from low to high, at most this many and one more."""
    raw = (high - low) / most
    power = 10 ** math.floor(math.log10(raw))
    step = next(size * power for size in (1, 2, 2.5, 5, 10) if size * power >= raw * (1 - 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(place * step, 10) + 0.0 for place in range(first, last + 1)]


def _text(value: Any) -> str:
    """A number with at most one decimal that an eye could tell; other values as they are."""
    if not isinstance(value, (int, float)):
        return str(value)
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
