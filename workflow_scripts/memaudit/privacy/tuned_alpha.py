"""TabPATE with a private choice of alpha: one budget covers the release of all candidates and the choice of one.

TabPATE, Table 3, lists the best alpha of each table without the cost of choosing it.

The budget is a rho of zCDP, `rho_within`. A share of it is for the choice. The k candidates have equal parts of the
rest: alpha of a part is for moments, the remainder for labels. Rejected candidates cost as much as the chosen one.

The choice: the PATE student of each candidate, the model with its context, is evaluated on the private records. The
loss of a privacy unit is in [0, 1], the mean of the clipped losses of its records. Given the released contexts, adding
or removing a unit changes each of k sums by at most 1: an L2 norm of sqrt(k). A discrete Gaussian on every sum costs
rho = k / (2 sigma^2). Composition is adaptive, and the minimum of the noisy sums is post-processing.

Every record is queried alone. In a batch, the last bits of a prediction may depend on the batch size, and a model that
scales over its queries depends on them entirely: one more record would change the losses of all.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from memaudit.common.arrays import Array
from memaudit.common.errors import AuditError
from memaudit.privacy.accounting import ROUNDING, Budget, rho_within
from memaudit.privacy.public_facts import Public
from memaudit.privacy.tabpate_release import (
    Plan,
    Released,
    Settings,
    TabPATE,
    planned_by_rho,
    predictions,
    votes,
)
from memaudit.privacy.teacher_shards import Predict, Private
from memaudit.privacy.unit_lattice import STEPS, lattice_contributions

LOSERS = "each candidate has cost its part, chosen or not; of those that lost, the noisy loss alone is released"


@dataclass(frozen=True)
class Tuning:
    """candidates: alphas to choose from; share: of rho, for the choice; base: common settings of the candidates.

    An alpha above 0 means queries from moments, whatever the prior of `base`. All labels are by votes.
    """

    candidates: tuple[float, ...]
    share: float
    base: Settings

    def settings(self) -> list[Settings]:
        """Settings of each candidate."""
        prior = self.base.prior
        return [replace(self.base, alpha=alpha, prior="moments" if alpha else prior) for alpha in self.candidates]

    def parts(self, budget: Budget) -> tuple[float, float]:
        """rho of each candidate and of the choice: at most `rho_within` in total, with a margin for rounding.

        Raises AuditError for a share outside (0, 1).
        """
        if not 0 < self.share < 1:
            raise AuditError(f"tuning: a share of {self.share} for the choice; give one between 0 and 1")
        rho = rho_within(budget) * (1 - 2 * ROUNDING)
        return rho * (1 - self.share) / len(self.candidates), rho * self.share

    def sigma(self, budget: Budget) -> float:
        """Standard deviation of the noise of each sum of losses, in units."""
        return math.sqrt(len(self.candidates) / (2 * self.parts(budget)[1]))


def release_tuned(mechanism: TabPATE, tuning: Tuning, budget: Budget) -> Released:
    """The context of the candidate with the least noisy loss: (epsilon, delta)-DP, add or remove one unit.

    Errors as of `TabPATE.release`; the counts of queries are those of the chosen candidate. The statement lists all
    candidates with their costs.
    """
    private = mechanism.private
    budget.checked(private.public.records)
    settings, (rho, _) = tuning.settings(), tuning.parts(budget)
    plans = [planned_by_rho(candidate, rho, private.public) for candidate in settings]
    contexts = [mechanism.release_by_plan(plan, candidate) for plan, candidate in zip(plans, settings, strict=True)]
    sums = np.array([loss_sum(losses(context, private, mechanism.predict), private.units) for context in contexts])
    noisy = mechanism.noise(sums, tuning.sigma(budget) * STEPS) / STEPS
    chosen = int(noisy.argmin())
    return replace(contexts[chosen], statement=_statement(tuning, budget, private.public, plans, noisy, chosen))


def losses(context: Released, private: Private, predict: Predict) -> Array:
    """Loss of the PATE student with this context on each private record (n,), not clipped.

    Class: 1 where it is wrong. Number: the squared error over the largest possible one of the middle of the public
    range. `votes` and `predictions` define the student of a context of one class or without records.
    """
    student, x, y, public = [(context.x, context.y)], private.x, private.y, private.public
    if public.task == "classification":
        classes = len(public.target.values)
        right = [votes(student, record[None], classes, predict)[0, label] for record, label in zip(x, y, strict=True)]
        return 1.0 - np.array(right, dtype=np.float64)
    lower, upper = public.target.bounds
    predicted = np.array([predictions(student, record[None], public, predict)[0, 0] for record in x], dtype=np.float64)
    return (2 * (predicted - (y - lower) / (upper - lower))) ** 2


def loss_sum(each: Array, units: Sequence[str]) -> np.int64:
    """Sum over units of the mean loss of their records, in lattice steps; each: (n,), clipped to [0, 1] here.

    A unit adds at most `STEPS`, in integers: its records share its weight of 1. NaN counts as 1.
    """
    clipped = np.maximum(np.fmin(each, 1), 0)
    return lattice_contributions(clipped[:, None], units).sum()


def _statement(
    tuning: Tuning, budget: Budget, public: Public, plans: Sequence[Plan], noisy: Array, chosen: int
) -> dict[str, object]:
    rho, choice = tuning.parts(budget)
    spent = {
        f"alpha {alpha:g}": plan.described(public) | {"rho": rho, "noisy_loss": float(loss)}
        for alpha, plan, loss in zip(tuning.candidates, plans, noisy, strict=True)
    }
    return {
        "alpha": tuning.candidates[chosen],
        "candidates": spent,
        "choice": {"sigma": tuning.sigma(budget), "rho": choice},
        "rho": rho * len(plans) + choice,
        "losers": LOSERS,
    }
