"""The AUC drawn by the number of shadow contexts, and by the records of a context, with what is extrapolated."""

import math
from itertools import pairwise

from memaudit.auditing.page.figures.picture import Picture, interval, known
from memaudit.auditing.page.figures.svg_canvas import Plane, Scale, drawing, label, line, path, tag, ticks
from memaudit.auditing.summaries.summary import Extrapolated, Value

LEFT, RIGHT, TOP, BOTTOM = 40.0, 345.0, 26.0, 190.0
GUESSING = 0.5


def by_contexts(found: Extrapolated, score: str) -> Picture:
    """AUC of a score by the number of shadow contexts of the adversary, and with many; score: its label."""
    start = f"How well {score} tells members from others (AUC), by the number of shadow contexts of the adversary: "
    return _drawn("growth", "With more shadow contexts", found, start, "shadow contexts", "many")


def by_size(found: Extrapolated, score: str) -> Picture:
    """AUC of a score by the number of records in a context, and in the one that will be deployed; score: its label."""
    start = f"How well {score} tells members from others (AUC), by the number of records in a context: "
    return _drawn("size", "In larger contexts", found, start, "records of a context", f"{found.to}, as deployed")


def _drawn(name: str, title: str, found: Extrapolated, start: str, axis: str, last: str) -> Picture:
    measured = [one for one in found.measured if known(one.auc)]
    if len(measured) < 2:
        return Picture(name, title, reason=f"the AUC was measured for one number of {axis} alone")
    limit = found.auc if known(found.auc) else None
    numbers = [float(one.number) for one in measured]
    # A limit at infinity stands one doubling to the right of what was measured.
    end = numbers[-1] * 2.5 if found.to is None else float(found.to)
    right = max(end, numbers[-1]) if limit else numbers[-1]
    values = [one.auc for one in measured] + ([limit] if limit else [])
    plane = Plane(Scale(numbers[0] / 1.15, right * 1.15, LEFT, RIGHT, True), _heights(values))
    heights = {at: f"{at:g}" for at in ticks(plane.y.low, plane.y.high, 4)}
    labels = {number: f"{number:g}" for number in numbers} | ({end: last.partition(",")[0]} if limit else {})
    points = [(plane.x(number), plane.y(one.auc.estimate)) for number, one in zip(numbers, measured, strict=True)]
    parts = [
        plane.axes(labels, heights, axis, "AUC"),
        line(LEFT, plane.y(GUESSING), RIGHT, plane.y(GUESSING), "null", stroke_dasharray="4 3"),
        label(
            "guessing",
            _widest_gap([x for x, _ in points] + [plane.x(end)] * bool(limit)),
            plane.y(GUESSING) + 12,
            "middle",
        ),
        path(points, "line"),
    ]
    for number, value, kind in [
        *zip(numbers, (one.auc for one in measured), ["dot"] * len(measured), strict=True),
        *([(end, limit, "ring")] if limit else []),
    ]:
        x = plane.x(number)
        parts.append(line(x, plane.y(value.low), x, plane.y(value.high), "whisker"))
        parts.append(tag("circle", paint=kind, cx=x, cy=plane.y(value.estimate), r=4))
    first, *_, best = measured
    read = f"{interval(first.auc)} with {first.number}, {interval(best.auc)} with {best.number}"
    told = f"{start}{read}. "
    told += f"The ring is extrapolated ({last}): {interval(limit)}. " if limit else ""
    told += f"Bars are 95 % intervals; at {GUESSING:g} the attack guesses."
    return Picture(name, title, told, drawing(name, title, told, BOTTOM + 40, *parts))


def _widest_gap(places: list[float]) -> float:
    """The middle of the widest gap between neighbours: a label there meets no interval, however small the leak."""
    left, right = max(pairwise(places), key=lambda pair: pair[1] - pair[0])
    return (left + right) / 2


def _heights(values: list[Value]) -> Scale:
    """From a tenth that is below all intervals and guessing to one above them."""
    low = math.floor(10 * min(GUESSING, *(one.low for one in values)) - 1e-9) / 10
    high = math.ceil(10 * max(GUESSING, *(one.high for one in values)) + 1e-9) / 10
    return Scale(max(low, 0.0), min(high, 1.0), BOTTOM, TOP)
