"""A picture of an audit's page: a drawing with its caption, or the reason why there is none."""

from dataclasses import dataclass, replace
from typing import NamedTuple, Self

from markupsafe import Markup

from memaudit.auditing.summaries.summary import Value


class Words(NamedTuple):
    """What captions call the place of members, and the absence of what is measured."""

    inside: str = "in the context"
    nothing: str = "without a leak"


@dataclass(frozen=True)
class Picture:
    """A drawing and its caption; without a drawing the reason says why. name: of its element on the page."""

    name: str
    title: str
    caption: str = ""
    drawing: Markup | None = None
    reason: str = ""

    def without(self, reason: str) -> Self:
        """The picture left out for a reason."""
        return replace(self, drawing=None, caption="", reason=reason)


def known(value: Value | None) -> bool:
    """Whether there is an estimate with both ends of its interval."""
    return value is not None and None not in (value.estimate, value.low, value.high)


def interval(value: Value, digits: int = 2, scale: float = 1) -> str:
    """ "0.71 [0.65, 0.77]", times a scale."""
    return "{} [{}, {}]".format(*(fixed(scale * one, digits) for one in (value.estimate, value.low, value.high)))


def change(value: Value, digits: int = 2, scale: float = 1) -> str:
    """ "+0.03 [+0.01, +0.05]", times a scale."""
    ends = (round(scale * one, digits) + 0.0 for one in (value.estimate, value.low, value.high))
    return "{} [{}, {}]".format(*(f"{one:+.{digits}f}" for one in ends))


def fixed(number: float, digits: int = 2) -> str:
    """The number with this many digits, without the sign of a zero."""
    return f"{round(number, digits) + 0.0:.{digits}f}"
