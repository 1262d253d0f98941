"""The time left of a run or an audit: learnt from its own pace, and told as a range."""

from math import ceil

# So long a run is taken to go at the expected pace; from then on its own pace decides more and more.
WARM_UP = 30.0
# The range of the time left is the estimate divided and multiplied by it. Replayed from the sidecars of a default run
# (true time left 1 to 3 times the estimate), a smoke run (.8 to 1.3) and one beside other work (.4 to 2), 91, 100 and
# 73 % of the lines had the true time left in their range.
SPREAD = 2.0


def seconds_left(done: float, left: float, elapsed: float, workers: float = 1.0) -> float:
    """Seconds until work of `left` expected seconds is done, by the pace at which `done` took `elapsed` seconds.

    workers: expected seconds that are done in a second before the pace is known.
    """
    return left * (elapsed + WARM_UP) / (done + WARM_UP * workers)


def between(seconds: float) -> str:
    """The range of the time left around an estimate: half and twice as long."""
    low, high = seconds / SPREAD, seconds * SPREAD
    if high < 60:
        return "less than a minute"
    if high > 5400:
        return f"{low / 3600:.1f} to {high / 3600:.1f} h"
    return f"{low / 60:.0f} to {ceil(high / 60)} min" if low > 30 else f"up to {ceil(high / 60)} min"
