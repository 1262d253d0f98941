"""The most vulnerable records drawn as a strip of intervals."""

import math
from collections.abc import Sequence

from memaudit.auditing.page.figures.picture import Picture, known
from memaudit.auditing.page.figures.svg_canvas import Plane, Scale, drawing, label, line, tag, ticks
from memaudit.auditing.summaries.summary import Exposed

LEFT, RIGHT, TOP, STEP = 62.0, 350.0, 20.0, 16.0


def record_strip(exposed: Sequence[Exposed], rated: int, showing: int, rows: str) -> Picture:
    """Vulnerability scores of the listed records with their intervals.

    showing: of all rated ones, those whose presence shows; rows: what they are called.
    """
    picture = Picture("strip", "Vulnerability scores with their intervals")
    scored = [one for one in exposed if one.vulnerability.estimate is not None]
    if not scored:
        return picture.without("no record has a vulnerability score")
    scores = [one.vulnerability for one in scored]
    ends = [end for score in scores for end in (score.estimate, score.low, score.high)]
    known_ends = [end for end in ends if end is not None]
    bottom = TOP + STEP * len(scored)
    plane = Plane(
        Scale(float(math.floor(min(0.0, *known_ends))), float(math.ceil(max(1.0, *known_ends))), LEFT, RIGHT),
        Scale(0, 1, bottom, TOP),
    )
    parts = [
        plane.axes({at: f"{at:g}" for at in ticks(plane.x.low, plane.x.high)}, {}, "vulnerability score", ""),
        line(plane.x(0), TOP - 6, plane.x(0), bottom, "null", stroke_dasharray="4 3"),
    ]
    for place, one in enumerate(scored):
        y, value = TOP + STEP * (place + 0.5), one.vulnerability
        parts.append(label(f"row {one.row}", LEFT - 8, y + 4, "end"))
        if known(value):
            parts.append(line(plane.x(value.low), y, plane.x(value.high), y, "whisker"))
        parts.append(tag("circle", paint="dot" if one.shows else "ring", cx=plane.x(value.estimate), cy=y, r=4))
    listed = sum(one.shows for one in scored)
    told = (
        f"The {len(scored)} {rows} of {rated} with the largest vulnerability scores, by their row in the table. "
        "Vulnerability score: the difference between answers with and without the record, in standard "
        "deviations; bars are 95 % intervals. At the dashed line, 0, the presence makes no difference. Filled: the "
        f"interval excludes 0, the presence shows ({listed} of these {len(scored)}, {showing} of all {rated})."
    )
    return Picture("strip", picture.title, told, drawing("strip", picture.title, told, bottom + 40, *parts))
