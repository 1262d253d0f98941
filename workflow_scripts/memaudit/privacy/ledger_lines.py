"""Lines of a ledger: the charge that each one records, and the table that was charged."""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from memaudit.privacy.accounting import Budget
from memaudit.privacy.composition import Cost
from memaudit.privacy.guarantee import Guarantee
from memaudit.privacy.table_fingerprint import identity


@dataclass(frozen=True)
class PrivateTable:
    """A table that a ledger knows: its name in the catalogue, and one text per row."""

    name: str
    rows: Sequence[str]

    @cached_property
    def identity(self) -> str:
        """Hash of all rows, in any order."""
        return identity(self.rows)


@dataclass(frozen=True)
class Charge:
    """One line of the ledger. name, identity: of the table; total: its limit at the time of the charge.

    id: 16 random hexadecimal digits, the only part of a line that may be published. With the identity, an adversary who
    knows all records but one could test guesses about that record. unit: what the release protects; guarantee: its
    noise; rows: different rows in the fingerprint beside it. The last three are None in lines of earlier versions.
    """

    id: str
    time: str
    name: str
    identity: str
    budget: Budget
    total: Budget
    purpose: str
    unit: str | None = None
    guarantee: Guarantee | None = None
    rows: int | None = None

    @property
    def cost(self) -> Cost:
        """What the release has cost."""
        return Cost(self.budget, self.guarantee)


def parsed(line: bytes) -> Charge | None:
    """The charge of a line; None for an invalid line, or one with a budget that is not positive."""
    try:
        fields = json.loads(line)
        budgets = {key: Budget(**fields[key]) for key in ("budget", "total")}
        charge = Charge(**(fields | budgets | {"guarantee": _guarantee(fields.get("guarantee"))}))
        return charge if is_amount(charge.budget) and _is_cost(charge.guarantee) else None
    except (ValueError, TypeError, KeyError):
        return None


def _guarantee(fields: dict[str, Any] | None) -> Guarantee | None:
    """The noise of a line, None where it has none. Raises TypeError or KeyError for another form."""
    if fields is None:
        return None
    mechanisms = fields["mechanisms"]
    return Guarantee(fields["rho"], None if mechanisms is None else tuple(map(tuple, mechanisms)))


def _is_cost(guarantee: Guarantee | None) -> bool:
    if guarantee is None:
        return True
    mechanisms = guarantee.mechanisms or ()
    numbers = [guarantee.rho, *(number for _, *moved_and_sigma in mechanisms for number in moved_and_sigma)]
    return all(0 < number < math.inf for number in numbers) and all(len(one) == 3 and one[0] >= 0 for one in mechanisms)


def is_amount(budget: Budget) -> bool:
    """Whether epsilon is positive and finite, and delta in [0, 1)."""
    return 0 < budget.epsilon < math.inf and 0 <= budget.delta < 1
