"""Bounds of an audit's settings, the same on the command line and from Python. Standard library only."""

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from numbers import Integral, Real
from typing import Any

from memaudit.common.cell_notations import ORDERS, SEPARATORS
from memaudit.common.errors import AuditError
from memaudit.config.name_checks import hint


@dataclass(frozen=True)
class Bound:
    """Numbers that a setting takes; kind: whether whole ones only; fault: what is said of another one."""

    kind: type[int] | type[float]
    holds: Callable[[float], bool]
    fault: str

    @property
    def no_number(self) -> str:
        """What is said of a value that is no such number."""
        return "is no whole number" if self.kind is int else "is no number"

    def parsed(self, text: str) -> float:
        """The number of an argument. Raises ArgumentTypeError for one out of bounds, and for no number."""
        try:
            value = self.kind(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{text} {self.no_number}") from None
        if not self.holds(value):
            raise argparse.ArgumentTypeError(f"{text} {self.fault}")
        return value

    def check(self, option: str, value: Any) -> None:
        """Raise AuditError for a value that is no such number."""
        whole = self.kind is int
        if isinstance(value, bool) or not isinstance(value, Integral if whole else Real):
            raise AuditError(f"{option}: {value!r} {self.no_number}")
        if not self.holds(value):
            raise AuditError(f"{option}: {value} {self.fault}")


POSITIVE = Bound(float, lambda value: 0 < value < 1e6, "is not a positive number")
SHARE = Bound(float, lambda value: 0 < value < 1, "is not a share between 0 and 1")
COUNT = Bound(int, lambda value: value >= 1, "is less than 1")
SEED = Bound(int, lambda value: value >= 0, "is less than 0")
BOUNDS = {"minutes": POSITIVE, "epsilon": POSITIVE, "base_rates": SHARE, "seed": SEED}
BOUNDS |= dict.fromkeys(("rows", "shown", "context_rows", "cores"), COUNT)
THREATS = ("labels", "probabilities", "poison", "white-box", "linkability")
TASKS = ("classification", "regression")
CHOICES = {"threats": THREATS, "task": TASKS, "decimal": SEPARATORS, "dates": ORDERS}
TEXTS = (str, str | None, Sequence[str])  # types of fields of which every value is a text
NEEDED = ("threats", "base_rates")  # that are never empty


def check(described: Any) -> None:
    """Raise AuditError for a setting out of bounds; described: a request or settings, with fields named as above."""
    for field in fields(described):
        name, value = field.name, getattr(described, field.name)
        option = f"--{name.replace('_', '-')}"
        if name in NEEDED and not value:
            raise AuditError(f"{option}: name at least one")
        if value is None and field.default is None:
            continue
        if field.type is bool and not isinstance(value, bool):
            raise AuditError(f"{option}: {value!r} is neither True nor False")
        for one in value if isinstance(value, list | tuple) else [value]:
            if field.type in TEXTS and not isinstance(one, str):
                raise AuditError(f"{option}: {one!r} is no text")
            if name in BOUNDS:
                BOUNDS[name].check(option, one)
            if name in CHOICES and one not in CHOICES[name]:
                raise AuditError(f"{option}: {one!r} is unknown{hint(one, list(CHOICES[name]))}")
