"""TabPATE with a tuned alpha whose tuning is charged: candidates are released, one of them is chosen, and one budget
pays for all of it (TabPATE, Table 3, says which alphas suited which table, and not what finding them cost).

The budget is a rho of zCDP, `rho_within`. A share of it is for the choice. The k candidates have equal parts of the
rest: alpha of a part is for moments, and what is left for labels. Candidates that lose are spent for like the winner.

The choice: each candidate's student, the model that is shown its context, is asked about the private records. A unit's
loss lies in [0, 1], the mean of its records' clipped losses, so that with contexts that are released already, adding
or removing a unit moves each of k sums by at most 1: an L2 norm of sqrt(k). A discrete Gaussian on every sum costs
rho = k / (2 sigma^2). That contexts were there first costs nothing more (adaptive composition), and the least of noisy
sums is post-processing.

Every record is asked about alone. In one pass with others, a model's last bits may depend on how many these are, and of
a model that scales over its queries whole answers do: one record more would move the losses of all.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from memaudit.errors import AuditError
from memaudit.privacy.accounting import ROUNDING, Budget, rho_within
from memaudit.privacy.discrete_noise import Noise, discrete_gaussian
from memaudit.privacy.noisy_moments import STEPS
from memaudit.privacy.public_facts import Public
from memaudit.privacy.tabpate_release import (
    Ask,
    Numbers,
    Plan,
    Released,
    Settings,
    Targets,
    carried_out,
    planned_by_rho,
    predictions,
    votes,
)

LOSERS = "each candidate has cost its part, chosen or not; of those that lost, the noisy loss alone is released"


@dataclass(frozen=True)
class Tuning:
    """candidates: alphas to choose from; share: of rho, for the choice; base: what the candidates have in common.

    An alpha above 0 means queries from moments, whatever the prior of `base`. All labels are by votes.
    """

    candidates: tuple[float, ...]
    share: float
    base: Settings

    def settings(self) -> list[Settings]:
        """Those of each candidate."""
        prior = self.base.prior
        return [replace(self.base, alpha=alpha, prior="moments" if alpha else prior) for alpha in self.candidates]

    def parts(self, budget: Budget) -> tuple[float, float]:
        """rho of each candidate and of the choice: together at most `rho_within`, whatever a filter rounds up.

        Raises AuditError for a share that leaves one of them nothing.
        """
        if not 0 < self.share < 1:
            raise AuditError(f"tuning: a share of {self.share} for the choice; give one between 0 and 1")
        rho = rho_within(budget) * (1 - 2 * ROUNDING)
        return rho * (1 - self.share) / len(self.candidates), rho * self.share

    def sigma(self, budget: Budget) -> float:
        """Noise of each sum of losses, in units."""
        return math.sqrt(len(self.candidates) / (2 * self.parts(budget)[1]))


def release_tuned(
    x: Numbers,
    y: Targets,
    units: Sequence[str],
    key: bytes,
    public: Public,
    tuning: Tuning,
    budget: Budget,
    ask: Ask,
    rng: np.random.Generator,
    noise: Noise = discrete_gaussian,
) -> Released:
    """The context of the candidate with the least noisy loss: (epsilon, delta)-DP, add or remove one unit.

    Arguments and errors as of `tabpate.release`; what was asked and answered is the chosen candidate's. The statement
    names all candidates and what they have cost.
    """
    budget.checked(public.records)
    settings, (rho, _) = tuning.settings(), tuning.parts(budget)
    plans = [planned_by_rho(candidate, rho, public) for candidate in settings]
    found = [
        carried_out(plan, x, y, units, key, public, candidate, ask, rng, noise)
        for plan, candidate in zip(plans, settings, strict=True)
    ]
    sums = np.array([loss_sum(losses(context, x, y, public, ask), units) for context in found])
    noisy = noise(sums, tuning.sigma(budget) * STEPS) / STEPS
    chosen = int(noisy.argmin())
    return replace(found[chosen], statement=_statement(tuning, budget, public, plans, noisy, chosen))


def losses(context: Released, x: Numbers, y: Targets, public: Public, ask: Ask) -> NDArray[np.float64]:
    """Loss of the context's student on each record x (n, d), y (n,): (n,), not clipped yet.

    Of a class: 1 where it is wrong. Of a number: the squared error as a share of what it can be at most for who says
    the middle of the public range. A context that teaches nothing makes the student that `votes` and `predictions` say.
    """
    told = [(context.x, context.y)]
    if public.task == "classification":
        classes = len(public.target.values)
        right = [votes(told, record[None], classes, ask)[0, label] for record, label in zip(x, y, strict=True)]
        return 1.0 - np.array(right, dtype=np.float64)
    lower, upper = public.target.bounds
    said = np.array([predictions(told, record[None], public, ask)[0, 0] for record in x], dtype=np.float64)
    return (2 * (said - (y - lower) / (upper - lower))) ** 2


def loss_sum(each: NDArray[np.float64], units: Sequence[str]) -> np.int64:
    """Sum over units of the mean loss of their records, in lattice steps; each: (n,), clipped to [0, 1] here.

    A unit adds at most `STEPS`, in integers: its records share its weight of 1. What is no number counts as 1.
    """
    clipped = np.maximum(np.fmin(each, 1), 0)
    _, unit, size = np.unique(np.asarray(units, dtype=str), return_inverse=True, return_counts=True)
    return np.trunc(clipped * (STEPS / size[unit])).astype(np.int64).sum()


def _statement(
    tuning: Tuning, budget: Budget, public: Public, plans: Sequence[Plan], noisy: NDArray[np.float64], chosen: int
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
