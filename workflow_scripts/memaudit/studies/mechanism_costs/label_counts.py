"""Labels that a budget buys of PATE teachers: by the data-independent cost, and by the released data-dependent one.

Votes are those of teachers on public tables, or agree equally in every query. Whatever favours the data-dependent cost
is granted: order, beta and sigma of its release are the best for these votes, which nobody may choose by them.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from memaudit.common.arrays import Array, Indices
from memaudit.privacy.accounting import Budget, rho_within
from memaudit.privacy.data_dependent_rdp import log_answered, log_q
from memaudit.privacy.gnmax import Confident
from memaudit.privacy.renyi_conversion import epsilon_of_rdp
from memaudit.privacy.smooth_sensitivity import CostRelease, cost, sensitivities, smooth_sensitivity

EPSILONS, DELTA = (1.0, 10.0), 1e-5
# Noise of the candidates of `make tune_tabpate`; with 250 teachers that of Papernot et al. 2018, scaled to them.
SETTINGS = {
    10: Confident(5.0, 20.0, 10.0),
    25: Confident(12.0, 30.0, 20.0),
    50: Confident(25.0, 30.0, 20.0),
    250: Confident(200.0, 150.0, 40.0),
}
AGREEMENTS = (1.0, 0.9)
ORDERS = 1 + np.geomspace(0.05, 300, 90)
BETAS = np.linspace(0.02, 0.49, 16)  # times 1 / order
RIGHT = 0.99  # share of right labels at which the noise is chosen for each way by itself
SIGMAS = np.geomspace(0.3, 1.0, 8)  # times the largest noise with so many right labels
MOST = 100_000  # labels; more are not counted


@dataclass(frozen=True)
class QueryCost:
    """Mean cost of a query at an order, and its smooth sensitivity at each beta."""

    order: float
    cost: float
    smooth: Mapping[float, float]


def rows() -> Iterator[dict[str, Any]]:
    """Rows of votes with equal agreement: teachers, agreement, epsilon, noise, and labels of each way."""
    for teachers, settings in SETTINGS.items():
        for agreement in AGREEMENTS:
            votes = np.array([[round(teachers * agreement), teachers - round(teachers * agreement)]])
            largest = largest_sigma(votes)
            tuned = labels(votes, settings)
            each = [labels(votes, Confident(None, None, share * largest)) for share in SIGMAS]
            for epsilon in EPSILONS:
                best = {way: max(one[epsilon][way] for one in each) for way in tuned[epsilon]}
                facts = {"teachers": teachers, "agreement": agreement, "epsilon": epsilon}
                yield facts | {"noise": "as tuned", **tuned[epsilon]}
                yield facts | {"noise": "best for each", **best}


def labels(votes: Indices, settings: Confident) -> dict[float, dict[str, float]]:
    """Expected labels within each epsilon, if queries have these votes in equal shares; votes: (query, class).

    independent: by the worst case; unreleased: by a data-dependent cost that nobody may see; released: with its release
    by smooth sensitivity, two standard deviations of whose noise must fit as well.
    """
    answered = np.ones(len(votes))
    if settings.threshold is not None:
        answered = np.exp(log_answered(votes.max(axis=1), settings.threshold, settings.sigma1))
    each = [_query_cost(votes, answered, settings, order) for order in ORDERS]
    worst, share = settings.check_cost + answered.mean() * settings.label_cost, float(answered.mean())
    found = {}
    for budget in (Budget(epsilon, DELTA) for epsilon in EPSILONS):
        unreleased, released = _data_dependent(each, budget)
        counts = {
            "independent": math.floor(rho_within(budget) / worst),
            "unreleased": unreleased,
            "released": released,
        }
        found[budget.epsilon] = {way: round(share * count, 1) for way, count in counts.items()}
    return found


def largest_sigma(votes: Indices) -> float:
    """Largest noise of each count with which the share `RIGHT` of labels is the plurality's; votes: (1, class)."""
    sigmas = np.geomspace(0.01, 1, 2000) * votes.sum()
    return float(max(sigma for sigma in sigmas if log_q(votes, sigma)[0] <= math.log(1 - RIGHT)))


def _query_cost(votes: Indices, answered: Array, settings: Confident, order: float) -> QueryCost:
    local = sensitivities(votes, answered, settings, order) / len(votes)
    smooth = {float(beta): smooth_sensitivity(local, beta) for beta in BETAS / order}
    return QueryCost(order, cost(votes, answered, settings, order) / len(votes), smooth)


def _data_dependent(each: list[QueryCost], budget: Budget) -> tuple[int, int]:
    """Largest numbers of queries at the best order, without and with the release of the cost."""
    unreleased = released = 0
    for one in each:
        fits = lambda count, one=one: _epsilon(one, count, budget) <= budget.epsilon  # noqa: E731
        unreleased = _most(fits, unreleased)
        for beta in one.smooth:
            fits = lambda count, one=one, b=beta: _epsilon_with_release(one, b, count, budget) <= budget.epsilon  # noqa: E731
            released = _most(fits, released)
    return unreleased, released


def _epsilon(one: QueryCost, count: int, budget: Budget) -> float:
    return float(epsilon_of_rdp(np.array(one.order), np.array(count * one.cost), budget.delta))


def _epsilon_with_release(one: QueryCost, beta: float, count: int, budget: Budget) -> float:
    """Epsilon with the release of the cost, at the noise that is best, and two standard deviations of it."""
    smooth = count * one.smooth[beta]
    if smooth == 0:  # the cost is the worst case, and needs no release
        return _epsilon(one, count, budget)
    sigma = (one.order * math.exp(2 * beta) / smooth) ** (1 / 3)
    return CostRelease(one.order, beta, sigma).epsilon(count * one.cost, budget.delta) + 2 * smooth * sigma


def _most(fits: Callable[[int], bool], known: int) -> int:
    """Largest number that fits, at most `MOST`, if it is above the known one."""
    if known == MOST or not fits(known + 1):
        return known
    low, high = known + 1, MOST
    if fits(high):
        return MOST
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low
