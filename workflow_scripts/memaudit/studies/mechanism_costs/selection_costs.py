"""Epsilon of choosing one of k private candidates: all of them paid, or a random number of runs (private selection).

A run is the release of one candidate with its noisy score, at a rho of zCDP. `privacy/tuned_alpha.py` runs all k and
pays k times rho: one release costs its part, and the noisy losses of all together as much as k scores.
"""

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from scipy import optimize

from memaudit.privacy.accounting import Budget, rho_within
from memaudit.privacy.private_selection import Selection, with_chance
from memaudit.privacy.renyi_conversion import epsilon_of_rdp
from memaudit.studies.mechanism_costs.label_counts import DELTA, EPSILONS

CANDIDATES = (3, 10)
CHANCE = 0.9  # that the best candidate is among those run
ORDERS = 1 + np.geomspace(1e-2, 1e5, 2000)
SHAPES = {"geometric": 1.0, "Poisson": math.inf}


def rows() -> Iterator[dict[str, Any]]:
    """Rows of the table: candidates, way, expected runs, chance of the best one, epsilon, and rho left for a run.

    total: epsilon where one run alone has the epsilon of its key; share: of the budget's rho, for one run at a total
    of that epsilon.
    """
    for count in CANDIDATES:
        ways: dict[str, tuple[float, float, Callable[[float], float]]] = {
            "all candidates": (count, 1.0, partial(_all, count))
        }
        for name, shape in SHAPES.items():
            selection = with_chance(count, CHANCE, shape)
            ways[name] = selection.repetitions.mean, selection.chance, partial(_selected, selection)
        for name, (mean, chance, epsilon) in ways.items():
            yield {
                "candidates": count,
                "way": name,
                "runs": mean,
                "chance": chance,
                "total": {f"{one:g}": epsilon(_alone(one)) for one in EPSILONS},
                "share": {f"{one:g}": _largest(epsilon, one) / _alone(one) for one in EPSILONS},
            }


def _alone(epsilon: float) -> float:
    return rho_within(Budget(epsilon, DELTA))


def _all(count: int, rho: float) -> float:
    return float(epsilon_of_rdp(ORDERS, ORDERS * rho * count, DELTA).min())


def _selected(selection: Selection, rho: float) -> float:
    return float(epsilon_of_rdp(ORDERS, selection.repetitions.rdp(ORDERS, ORDERS * rho), DELTA).min())


def _largest(epsilon: Callable[[float], float], total: float) -> float:
    """Largest rho of a run with which the total holds."""
    excess = lambda log: epsilon(math.exp(log)) - total  # noqa: E731
    return math.exp(optimize.brentq(excess, math.log(_alone(total)) - 12, math.log(_alone(total)) + 1e-6))
