"""Audit of one single release with thousands of canaries, each in with probability 1/2 (Mahloujifar et al. 2024).

Every class of the table has one canary, so that the moments of the class show its presence: counts and sums of each
class have noise of their own. The adversary reads them off the released records.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from memaudit.common.arrays import Array
from memaudit.privacy.accounting import Budget
from memaudit.privacy.discrete_noise import Noise, discrete_gaussian
from memaudit.privacy.tabpate_release import Released, Settings, TabPATE, planned
from memaudit.privacy.teacher_shards import Private
from memaudit.statistics.one_run_bounds import LEVEL, SHARES, OneRun, audit_one_run, guess, mu_one_run
from memaudit.studies.release_audit.neighbour_tables import marks_model, read

EACH = 16  # other records of a class
DRAWS = 32  # queries for each record: what is read off them has less noise of its own than the release
SIMULATED = 200_000  # canaries, for their expected guesses
SCALE = 0.8  # of the sum of `mark`: its clip


class OneRelease(NamedTuple):
    """Bounds from one release, the mu that it promises, the largest bound of this many canaries, and its delta."""

    bounds: OneRun
    promised: float
    possible: float
    delta: float


def audit(canaries: int, epsilon: float, rng: np.random.Generator, noise: Noise = discrete_gaussian) -> OneRelease:
    """Bounds on epsilon and mu from one release with this many canaries."""
    membership, members = rng.random(canaries) < 0.5, np.arange(canaries)
    rows = pd.concat([_rows(np.repeat(members, EACH)), _rows(members[membership]).assign(mark=1.0)], ignore_index=True)
    names = [_name(number) for number in range(canaries)]
    nominal = 2 * EACH * canaries
    facts = {"source": "made for this audit", "records": nominal, "task": "classification"}
    table = read(rows, facts | {"target": names, "columns": {"mark": [-1.0, 1.0]}})
    budget = Budget(epsilon, 1 / (10 * nominal))
    settings = Settings(DRAWS * EACH * canaries, prior="moments", alpha=1.0, by_class=True, labels="group")
    private = Private(table.x, table.y, table.units, b"key", table.public)
    released = TabPATE(private, marks_model, rng, noise).release(settings, budget)
    bounds = audit_one_run(_scores(released, canaries), membership, budget.delta)
    mu = planned(settings, budget, table.public).guarantee(table.public).mu
    return OneRelease(bounds, mu, _largest_bound(mu, canaries), budget.delta)


def _largest_bound(mu: float, canaries: int) -> float:
    """Bound on mu at the expected guesses about canaries that each have mu-Gaussian noise of their own."""
    rng, bounds = np.random.default_rng(0), []
    membership = rng.random(SIMULATED) < 0.5
    scores = rng.normal(size=SIMULATED) + mu * membership
    for share in SHARES:
        inside, outside = guess(scores, round(share * SIMULATED))
        right = (membership[inside].sum() + (~membership[outside]).sum()) / (share * SIMULATED)
        guesses = max(2, round(share * canaries))
        bounds.append(mu_one_run(canaries, guesses, round(right * guesses), LEVEL / len(SHARES)))
    return max(bounds)


def _scores(released: Released, canaries: int) -> Array:
    """Noisy count and sum of `mark` of each class, whitened and added: (canary,)."""
    counts = np.bincount(released.y, minlength=canaries)
    sums = np.bincount(released.y, released.x[:, 0], minlength=canaries)
    return (counts + sums / SCALE) / DRAWS


def _rows(classes: NDArray[np.int64]) -> pd.DataFrame:
    marks = np.where(np.arange(len(classes)) % 2, 0.5, -0.5)
    return pd.DataFrame({"mark": marks, "answer": [_name(number) for number in classes]})


def _name(number: int) -> str:
    return f"class {number:06d}"
