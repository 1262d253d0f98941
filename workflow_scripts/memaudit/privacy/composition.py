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
    # A release whose noise is not recorded leaves of the total what its epsilon and its delta leave.
    known, spent = _recorded(costs)
    left = Budget(total.epsilon - spent.epsilon, total.delta - spent.delta)
    if not known or left.epsilon <= 0 or left.delta <= 0:
        return False
    together = _composed(known)
    if together.mechanisms is not None:
        return bool(together.deltas([left.epsilon])[0] <= left.delta)
    return together.rho <= rho_within(left) * (1 + ROUNDING)


def so_far(costs: Sequence[Cost], total: Budget) -> Budget:
    """The guarantee of all releases together: the smallest epsilon that one of the filters gives within the total.

    Of the sum of the budgets, the composed noise at the delta of the total, and the total itself, which always holds.
    The first two hold if no budget was chosen by what an earlier release showed.
    """
    known, spent = _recorded(costs)
    found = [total]
    if (plain := added(cost.budget for cost in costs)).delta <= total.delta:
        found.append(plain)
    if known and len(costs) > 1 and (left := total.delta - spent.delta) > 0:
        found.append(Budget(spent.epsilon + _composed(known).epsilon(left), total.delta))
    return min(found, key=lambda budget: (budget.epsilon, budget.delta))


def _recorded(costs: Sequence[Cost]) -> tuple[list[Guarantee], Budget]:
    """The noise of the releases that have it recorded, and the sum of the budgets of the others."""
    known = [cost.guarantee for cost in costs if cost.guarantee is not None]
    return known, added(cost.budget for cost in costs if cost.guarantee is None)


def _composed(known: Sequence[Guarantee]) -> Guarantee:
    """The noise of several releases as that of one: by mu where all noise is fine, else by rho alone."""
    fine = all(guarantee.is_fine for guarantee in known)
    mechanisms = tuple(one for guarantee in known for one in guarantee.mechanisms) if fine else None
    return Guarantee(sum(one.rho for one in known), mechanisms)


def added(budgets: Iterable[Budget]) -> Budget:
    """Sum of epsilons and of deltas, in decimal arithmetic, so that ten times 0.1 is 1."""
    return Budget(*map(float, _sum(budgets)))


def _sum(budgets: Iterable[Budget]) -> tuple[Decimal, Decimal]:
    pairs = [(Decimal(repr(float(one.epsilon))), Decimal(repr(float(one.delta)))) for one in budgets]
    return sum((epsilon for epsilon, _ in pairs), Decimal(0)), sum((delta for _, delta in pairs), Decimal(0))
