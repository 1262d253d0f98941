"""Rows of docs/release-audit.md: the bound of each condition, what is promised, and the largest bound of this size."""

import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from memaudit.privacy.discrete_noise import discrete_gaussian
from memaudit.statistics.distinguishing_tests import bound_of_rates, epsilon_of_mu, largest_bound
from memaudit.statistics.one_run_bounds import LEVEL
from memaudit.studies.release_audit import one_run
from memaudit.studies.release_audit.audited_releases import AS_RELEASED, BUDGET, conditions
from memaudit.studies.release_audit.broken_releases import quartered
from memaudit.studies.release_audit.optional_parts import optional_conditions

EPSILON = 2.0  # of the audit of one release, whose canaries are fewer than the releases of the others
CONDITIONS = conditions() | optional_conditions()
NOISES = {AS_RELEASED: discrete_gaussian, "a fourth of the noise": quartered}
ONE_RUN = {f"one release: {name}": noise for name, noise in NOISES.items()}
NAMES = [*CONDITIONS, *ONE_RUN]
# All bounds of releases as they are hold together with 95 %.
SHARED = LEVEL / sum(one.broken == AS_RELEASED for one in CONDITIONS.values())


def measure(name: str, runs: int, canaries: int) -> dict[str, Any]:
    """The row of a condition, with its CPU seconds. Epsilons are at the delta of the row, of Gaussian DP."""
    started = time.process_time()
    row = _one_release(name, canaries) if name in ONE_RUN else _many_releases(name, runs)
    row |= {"asked": canaries if name in ONE_RUN else runs, "cpu_seconds": round(time.process_time() - started, 1)}
    return row | judged(row)


def judged(row: Mapping[str, Any]) -> dict[str, Any]:
    """Bounds, epsilons and verdict of a row by its rates, at the level that the conditions of today share."""
    found = {}
    if "tpr" in row:
        runs = row["n"] // 2
        found["mu_bound"] = bound_of_rates(row["tpr"], row["fpr"], runs, SHARED)
        found["mu_possible"] = largest_bound(row["mu_promised"], runs, SHARED)
    whole = {**row, **found}
    for key in ("promised", "bound", "possible"):
        found[f"epsilon_{key}"] = epsilon_of_mu(whole[f"mu_{key}"], row["delta"])
    return found | {"refuted": whole["mu_bound"] > whole["mu_promised"]}


def is_current(name: str, known: dict[str, Any], runs: int, canaries: int) -> bool:
    """Whether a row was measured with these sizes."""
    return known["asked"] == (canaries if name in ONE_RUN else runs)


def _many_releases(name: str, runs: int) -> dict[str, Any]:
    condition = CONDITIONS[name]
    promised, found = condition.audited(runs, SHARED)
    return {
        "part": condition.part,
        "canary": condition.canary,
        "broken": condition.broken,
        "delta": BUDGET.delta,
        "mu_promised": promised,
        "tpr": found.tpr,
        "fpr": found.fpr,
        "n": 2 * found.runs,
    }


def _one_release(name: str, canaries: int) -> dict[str, Any]:
    found = one_run.audit(canaries, EPSILON, np.random.default_rng(0), ONE_RUN[name])
    return {
        "part": "one release",
        "canary": f"{canaries} records, each alone at the corner of its class",
        "broken": name.partition(": ")[2],
        "delta": found.delta,
        "mu_promised": found.promised,
        "mu_bound": found.bounds.mu,
        "mu_possible": found.possible,
        "n": canaries,
    }
