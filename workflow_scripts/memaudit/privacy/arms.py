"""The arms of a comparison: what each method releases from the same private records (TabPATE, Section 5.1, Appendix C).

A context for a student, or answers to the queries at hand. Everything is made from public data here: no ledger is
charged, and each output says so.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memaudit.privacy.accounting import Budget, Filter
from memaudit.privacy.gnmax import Confident, label
from memaudit.privacy.means import label_means
from memaudit.privacy.partition import shards_of
from memaudit.privacy.prototypes import release_prototypes
from memaudit.privacy.public import Public
from memaudit.privacy.tabpate import Ask, Released, Settings, planned, predictions, release, votes

NO_LEDGER = "an evaluation on public data: no ledger is charged"


@dataclass(frozen=True)
class Private:
    """Private records x (n, d), y (n,), their units, the shards' key, what is public, and public records (m, d)."""

    x: NDArray[np.float32]
    y: NDArray[np.int64] | NDArray[np.float64]
    units: Sequence[str]
    key: bytes
    public: Public
    unlabelled: NDArray[np.float32]


def released(arm: Mapping[str, Any], private: Private, budget: Budget, ask: Ask, rng: np.random.Generator) -> Released:
    """What an arm's method releases: a context. arm: method, and its settings."""
    x, y, units, key, public = private.x, private.y, private.units, private.key, private.public
    settings = dict(arm["settings"])
    match arm["method"]:
        case "tabpate":
            return release(x, y, units, key, public, Settings(**settings), budget, ask, rng)
        case "prompt-pate":
            wanted = Settings(**settings, prior="given")
            wanted = replace(wanted, queries=min(wanted.queries, len(private.unlabelled)))
            given = rng.permutation(private.unlabelled)[: wanted.queries]
            return release(x, y, units, key, public, wanted, budget, ask, rng, given=given)
        case "dp-tabicl":
            drawn, labels = release_prototypes(x, y, units, key, public, budget.epsilon, **settings)
            return Released(drawn, labels, 0, len(drawn), {"pure_epsilon": budget.epsilon})
    raise ValueError(f"{arm['method']} releases no context")


def answered(
    arm: Mapping[str, Any], private: Private, budget: Budget, queries: NDArray[np.float32], ask: Ask
) -> NDArray[np.int64] | NDArray[np.float64]:
    """Query-Time: noisy answers of the teachers to the queries at hand (m,), which share the budget."""
    teachers = arm["settings"]["teachers"]
    plan = planned(Settings(len(queries), teachers), budget, private.public)
    shards = shards_of(private.units, private.key, teachers)
    contexts = [(private.x[shards == shard], private.y[shards == shard]) for shard in range(teachers)]
    allowance = Filter(plan.rho)
    if private.public.task == "classification":
        counts = votes(contexts, queries, len(private.public.target.values), ask)
        return label(counts, Confident(None, None, plan.votes.sigma2), allowance).labels
    lower, upper = private.public.target.bounds
    said = predictions(contexts, queries, private.public, ask)
    return lower + (upper - lower) * label_means(said, plan.votes.sigma2, allowance)
