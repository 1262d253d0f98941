"""Mitigations drawn in the plane of leakage and utility: how far each moves both from what it is without one."""

from collections.abc import Sequence
from typing import NamedTuple

from markupsafe import Markup

from memaudit.attacks.attack_entry import WHITE_BOX
from memaudit.auditing.page.figures.picture import Picture, change, known
from memaudit.auditing.page.figures.svg_canvas import Plane, Scale, drawing, label, line, tag, ticks
from memaudit.auditing.summaries.mitigation_parts import Mitigation

LEFT, RIGHT, TOP, BOTTOM = 46.0, 350.0, 26.0, 280.0
NEAR, RADIUS = 9.0, 4.0
PRICE = 2.0  # points of utility that an advised mitigation may cost, `statistics.mitigation_verdicts.CHEAP`
# Places of a number around its mark, the nearest first.
AROUND = [(dx * far, dy * far) for far in (10.0, 17.0, 24.0) for dx, dy in
          ((1, -0.6), (-1, -0.6), (1, 1), (-1, 1), (0, -1), (0, 1.3))]  # fmt: skip


class Entry(NamedTuple):
    """A line of the picture's key."""

    number: int
    name: str
    text: str
    verdict: str
    advised: bool


def drawn(mitigations: Sequence[Mitigation]) -> list[Mitigation]:
    """Those with a change of the AUC and of utility, which the plane can show; attention is another adversary's."""
    answers = (one for one in mitigations if one.attack != WHITE_BOX)
    return [one for one in answers if known(one.auc_difference) and known(one.cost)]


def key(mitigations: Sequence[Mitigation]) -> list[Entry]:
    """What each number of the picture stands for, with both changes."""
    return [
        Entry(
            number,
            one.called,
            f"AUC {change(one.auc_difference)}, {one.measure} {change(one.cost, 1, 100)} points",
            one.verdict or "for comparison",
            one.advised,
        )
        for number, one in enumerate(drawn(mitigations), 1)
    ]


def mitigation_plane(mitigations: Sequence[Mitigation]) -> Picture:
    """Change of the AUC by change of utility, with both 95 % intervals; the region of the advised ones is shaded."""
    picture, shown = Picture("plane", "Leakage and utility of each mitigation"), drawn(mitigations)
    if not shown:
        return picture.without("no mitigation could be attacked and measured on the same records")
    measure = shown[0].measure
    plane = Plane(
        Scale(*_range([100 * end for one in shown for end in (one.cost.low, one.cost.high)], -PRICE), LEFT, RIGHT),
        Scale(*_range([end for one in shown for end in (one.auc_difference.low, one.auc_difference.high)], -0.02),
              BOTTOM, TOP),
    )  # fmt: skip
    x_ticks, y_ticks = (
        {at: f"{at:+g}" if at else "0" for at in ticks(one.low, one.high)} for one in (plane.x, plane.y)
    )
    cheap, none, still = plane.x(-PRICE), plane.x(0), plane.y(0)
    parts = [
        tag("rect", paint="region", x=cheap, y=still, width=RIGHT - cheap, height=BOTTOM - still),
        plane.axes(x_ticks, y_ticks, f"change of {measure} (points)", "change of AUC"),
        line(LEFT, still, RIGHT, still, "axis"),
        line(none, TOP, none, BOTTOM, "axis"),
        line(cheap, still, cheap, BOTTOM, "null", stroke_dasharray="4 3"),
        *_marks(plane, shown),
    ]
    told = (
        f"Each number is a mitigation (list below): how far it moves {measure} (sideways) and the leak, as AUC (up and "
        f"down), from those without it, with 95 % intervals. Best is low and not left of the middle. In the shaded "
        f"region the leak is smaller and at most {PRICE:g} points of {measure} are lost, a price that this page "
        f"takes to be small. {_advised(shown)}"
    )
    listed = "; ".join(f"{one.number} {one.name}: {one.text}; {one.verdict}" for one in key(mitigations))
    return Picture("plane", picture.title, told, drawing("plane", picture.title, f"{told} {listed}.", 320, *parts))


def _advised(shown: Sequence[Mitigation]) -> str:
    names = ", ".join(f"“{one.called}”" for one in shown if one.advised)
    first = f"Filled marks are advised: {names}" if names else "None is advised"
    return (
        f"{first}. A mark in the region is not enough: both intervals must lie in it after a correction for the choice "
        "of the best, and where accusations at the threshold show a leak, fewer members must be identified, too. Grey: "
        "for comparison."
    )


def _marks(plane: Plane, shown: Sequence[Mitigation]) -> list[Markup]:
    at = [(plane.x(100 * one.cost.estimate), plane.y(one.auc_difference.estimate)) for one in shown]
    parts, taken = [], list(at)
    for one, (x, y) in zip(shown, at, strict=True):
        parts.append(line(plane.x(100 * one.cost.low), y, plane.x(100 * one.cost.high), y, "whisker", stroke_width=2))
        parts.append(line(x, plane.y(one.auc_difference.low), x, plane.y(one.auc_difference.high), "whisker",
                          stroke_width=2))  # fmt: skip
    for one, (x, y) in zip(shown, at, strict=True):
        paint = "dot" if one.advised else "other" if not one.verdict else "ring"
        parts.append(tag("circle", paint=paint, cx=x, cy=y, r=RADIUS))
    for number, (x, y) in enumerate(at, 1):
        place = _free(x, y, taken)
        taken.append(place)
        parts.append(label(str(number), place[0], place[1] + 4, paint="strong"))
    return parts


def _free(x: float, y: float, taken: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """A place beside a mark that no mark or number has; the one farthest from all where none is free."""
    places = [(x + dx, y + dy) for dx, dy in AROUND if LEFT < x + dx < RIGHT and TOP - 8 < y + dy < BOTTOM]

    def room(place: tuple[float, float]) -> float:
        return min(max(abs(place[0] - one[0]), abs(place[1] - one[1])) for one in taken)

    return next((place for place in places if room(place) >= NEAR), max(places, key=room))


def _range(ends: Sequence[float], *shown: float) -> tuple[float, float]:
    """Limits that hold the ends, 0 and what must be shown, with a margin."""
    low, high = min(*ends, 0.0, *shown), max(*ends, 0.0, *shown)
    margin = 0.06 * (high - low)
    return low - margin, high + margin
