"""A hundred small figures for the people that an adversary accuses: how many of them are rightly accused."""

from markupsafe import Markup

from memaudit.auditing.page.figures.picture import Picture, Words, known
from memaudit.auditing.page.figures.svg_canvas import drawing, line, tag
from memaudit.auditing.summaries.summary import Value

ROWS, COLUMNS = 5, 20
STEP, TALL, TOP, MARGIN = 17.0, 23.0, 6.0, 10.0
# A head and a body, from the middle of the head's upper edge.
FIGURE = "a3.6 3.6 0 1 1-.01 0zm-2.6 8.6h5.2a3 3 0 0 1 3 3v5.6h-11.2v-5.6a3 3 0 0 1 3-3z"
BOX = "m-5 3h10v14h-10z"  # where no people are accused

NOBODY = "in these contexts nobody was accused at this threshold"
WORDS = Words()


def icon_array(
    precision: Value,
    base_rate: float,
    who: str,
    detected: bool,
    words: Words = WORDS,
    unknown: str = NOBODY,
    figure: str = FIGURE,
) -> Picture:
    """100 accused of which so many are in the data, from the left: the share of the figures is a length, too.

    precision: its null is the share without a leak; who: is accused, as "records"; detected: whether a leak is, at the
    threshold; unknown: the reason for a missing precision; figure: outline of one accused.
    """
    name, title = f"people-{100 * base_rate:g}".replace(".", "-"), "100 accused"
    if not known(precision):
        return Picture(name, title, reason=unknown)
    right = round(100 * precision.estimate)
    told = (
        f"{right} of 100 figures are filled: {who} that are accused and really in the data, if {100 * base_rate:g} "
        f"of 100 candidates are; 95 % interval {100 * precision.low:.0f} to {100 * precision.high:.0f}. The dashed "
        f"line is at {100 * precision.null:g}, the number {words.nothing}."
    )
    told += "" if detected else " The difference is not distinguishable from chance."
    kinds = {"person": range(right), "absent": range(right, 100)}
    outlines = {paint: "".join(f"{_corner(place)}{figure}" for place in places) for paint, places in kinds.items()}
    parts = [tag("path", paint=paint, d=outline) for paint, outline in outlines.items() if outline]
    return Picture(
        name, title, told, drawing(name, f"{title}, {right} of them in the data", told, 140, *parts, _scale(precision))
    )


def _corner(place: int) -> str:
    """Where the outline at this place begins: columns from the left, each from the top."""
    column, row = divmod(place, ROWS)
    return f"M{MARGIN + STEP * column + STEP / 2:g} {TOP + TALL * row:g}"


def _scale(precision: Value) -> Markup:
    """Below the figures the interval of the precision and the number without a leak."""
    bottom = TOP + TALL * ROWS

    def at(share: float) -> float:
        return MARGIN + STEP * COLUMNS * share

    return Markup("").join(
        [
            line(at(0), bottom + 8, at(1), bottom + 8, "axis", stroke_opacity=0.5),
            line(at(precision.low), bottom + 8, at(precision.high), bottom + 8, "whisker"),
            tag("circle", paint="dot", cx=at(precision.estimate), cy=bottom + 8, r=3),
            line(at(precision.null), TOP - 5, at(precision.null), bottom + 14, "null", stroke_dasharray="4 3"),
        ]
    )
