"""Composition of several releases of one table, which may have been chosen one after the other, within a total budget.

Two filters, either of which is enough: epsilons and deltas add up (Rogers et al. 2016), and costs in rho, or in mu^2 of
Gaussian differential privacy, add up to at most what the total allows (Feldman and Zrnic 2021; Smith and Thakurta
2022). Both limits depend on the total alone, so that a release may be chosen after looking at earlier ones.
"""

import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from memaudit.privacy.accounting import ROUNDING, Budget, rho_within
from memaudit.privacy.guarantee import Guarantee


@dataclass(frozen=True)
class Cost:
    """What one release costs: its budget, and the noise that decides what it reveals (None: not recorded)."""

    budget: Budget
    guarantee: Guarantee | None = None


def fits(costs: Sequence[Cost], total: Budget) -> bool:
    """Whether all releases together are within the total, by one of the two filters."""
    if all(map(operator.le, _sum(cost.budget for cost in costs), _sum([total]))):
        return True
    known = [cost.guarantee for cost in costs if cost.guarantee is not None]
    # A release whose noise is not recorded leaves of the total what its epsilon and its delta leave.
    spent = added(cost.budget for cost in costs if cost.guarantee is None)
    left = Budget(total.epsilon - spent.epsilon, total.delta - spent.delta)
    if not known or left.epsilon <= 0 or left.delta <= 0:
        return False
    if all(guarantee.is_fine for guarantee in known):
        mechanisms = tuple(one for guarantee in known for one in guarantee.mechanisms)
        together = Guarantee(sum(one.rho for one in known), mechanisms)
        return bool(together.deltas([left.epsilon])[0] <= left.delta)
    return sum(one.rho for one in known) <= rho_within(left) * (1 + ROUNDING)


def so_far(costs: Sequence[Cost], total: Budget) -> Budget:
    """The guarantee of all releases together: the sum of their budgets, or the total where the sum exceeds it."""
    plain = added(cost.budget for cost in costs)
    return plain if plain.epsilon <= total.epsilon and plain.delta <= total.delta else total


def added(budgets: Iterable[Budget]) -> Budget:
    """Sum of epsilons and of deltas, in decimal arithmetic, so that ten times 0.1 is 1."""
    return Budget(*map(float, _sum(budgets)))


def _sum(budgets: Iterable[Budget]) -> tuple[Decimal, Decimal]:
    pairs = [(Decimal(repr(float(one.epsilon))), Decimal(repr(float(one.delta)))) for one in budgets]
    return sum((epsilon for epsilon, _ in pairs), Decimal(0)), sum((delta for _, delta in pairs), Decimal(0))
