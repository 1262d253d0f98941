"""The strongest score drawn: its ROC curve with a band on logarithmic axes, scores of members and non-members."""

import math
from collections.abc import Mapping

from markupsafe import Markup

from memaudit.auditing.page.figures.picture import Picture, Words, interval, known
from memaudit.auditing.page.figures.svg_canvas import WIDTH, Plane, Scale, drawing, label, line, path, tag
from memaudit.auditing.summaries.score_curves import Histogram, RocPoint
from memaudit.auditing.summaries.summary import Value

LEFT, RIGHT, TOP = 50.0, 336.0, 26.0
ROOM = 72.0  # that the word at the threshold takes
WORDS = Words()


def roc_drawing(
    points: list[RocPoint], tprs: Mapping[float, Value], strict: float, who: str, words: Words = WORDS
) -> Picture:
    """TPR by FPR with its band; tprs: of the headline, by FPR; strict: the FPR of the threshold; who: is attacked."""
    picture = Picture("roc", "Identified against wrongly accused")
    if len(points) < 2:
        return picture.without("too few non-members were queried for a curve with intervals")
    least = 10 ** math.floor(math.log10(points[0].fpr) + 1e-9)
    plane = Plane(Scale(least, 1, LEFT, RIGHT, True), Scale(least, 1, 290, TOP, True))
    decades = {10.0**-power: _share(10.0**-power) for power in range(round(-math.log10(least)) + 1)}
    at = [(plane.x(one.fpr), one) for one in points]
    band = [(x, plane.y(one.high)) for x, one in at] + [(x, plane.y(one.low)) for x, one in reversed(at)]
    marked = {fpr: tpr for fpr, tpr in tprs.items() if fpr >= points[0].fpr and known(tpr)}
    parts = [
        plane.axes(decades, decades, "wrongly accused (false positive rate)", "identified (true positive rate)"),
        line(plane.x(least), plane.y(least), plane.x(1), plane.y(1), "null", stroke_dasharray="4 3"),
        path(band, "band", closed=True),
        path([(x, plane.y(one.tpr)) for x, one in at], "line"),
        *(_marked(plane, fpr, tpr) for fpr, tpr in marked.items()),
    ]
    read = " ".join(
        f"Where {_share(fpr)} are accused wrongly, {interval(tpr, 1, 100)} % are identified."
        for fpr, tpr in sorted(marked.items())
    )
    told = (
        f"The share of {who} {words.inside} that the attack identifies (true positive rate), by the share of those "
        "outside that it accuses wrongly (false positive rate), for every threshold. Both axes are logarithmic: the "
        f"left end, where few are accused wrongly, matters most. {read} The area around the line holds the 95 % "
        f"interval of each point. {words.nothing.capitalize()} the line would be the dashed one. This page's "
        f"accusations are made at {_share(strict)}: a stricter threshold accuses fewer wrongly, and finds fewer."
    )
    return Picture("roc", picture.title, told, drawing("roc", picture.title, told, 330, *parts))


def _marked(plane: Plane, fpr: float, tpr: Value) -> Markup:
    x = plane.x(fpr)
    return line(x, plane.y(tpr.low), x, plane.y(tpr.high), "whisker") + tag(
        "circle", paint="dot", cx=x, cy=plane.y(tpr.estimate), r=3.5
    )


def score_histogram(
    found: Histogram | None, distinct: int, fpr: float, tpr: Value | None, who: str, words: Words = WORDS
) -> Picture:
    """Scores of members as bars and of non-members as an outline; distinct: different scores.

    tpr: of the threshold at this FPR; None: too few non-members for one.
    """
    picture = Picture("histogram", "Scores of members and non-members")
    if found is None:
        return picture.without(f"the score takes only {distinct} different values, so its bars would show ties alone")
    top = max(max(one.members, one.nonmembers) for one in found.bins)
    plane = Plane(Scale(found.bins[0].low, found.bins[-1].high, 12, 348.0), Scale(0, top * 1.05, 270, TOP + 22))
    inside = [(plane.x(found.bins[0].low), plane.y(0))]
    outside = list(inside)
    for one in found.bins:
        inside += [(plane.x(one.low), plane.y(one.members)), (plane.x(one.high), plane.y(one.members))]
        outside += [(plane.x(one.low), plane.y(one.nonmembers)), (plane.x(one.high), plane.y(one.nonmembers))]
    end = (plane.x(found.bins[-1].high), plane.y(0))
    parts = [
        path([*inside, end], "inside", closed=True),
        path([*outside, end], "outside"),
        plane.axes({}, {}, f"score: further right, more likely {words.inside}", ""),
        *(_threshold(plane.x(found.threshold)) if tpr else []),
        *_key(words.inside),
    ]
    told = (
        f"Scores of {found.members:,} answers about {who} {words.inside} (filled) and of {found.nonmembers:,} about "
        f"{who} that are not (outline), as shares of each. The more the two shapes overlap, the less the attack can "
        "tell them apart. "
    )
    if tpr:
        told += (
            f"Right of the dashed threshold it accuses: {_share(fpr)} of the non-members, which sets the threshold, "
        )
        told += f"and {_members(tpr)} of the members. "
    told += "Scores are spread by rank (normal scores), so distances have no unit; equal scores stand in one bar."
    return Picture("histogram", picture.title, told, drawing("histogram", picture.title, told, 310, *parts))


def _members(tpr: Value) -> str:
    return f"{interval(tpr, 1, 100)} %" if known(tpr) else f"{100 * tpr.estimate:.1f} %"


def _threshold(x: float) -> list[Markup]:
    place, anchor = (x + 5, "start") if x + ROOM < WIDTH else (x - 5, "end")
    return [
        line(x, TOP + 14, x, 270, "axis", stroke_dasharray="4 3"),
        label("accused →", place, TOP + 22, anchor, "strong"),
    ]


def _key(inside: str) -> list[Markup]:
    return [
        tag("rect", paint="inside", x=12, y=6, width=14, height=10),
        label(inside, 31, 15, "start"),
        tag("rect", paint="outside", x=124, y=6, width=14, height=10),
        label(f"not {inside}", 143, 15, "start"),
    ]


def _share(share: float) -> str:
    return f"{100 * share:g} %"
