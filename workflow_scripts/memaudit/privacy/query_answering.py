"""Methods that release no context: they answer queries themselves (TabPATE, Section 5.1, Appendix C)."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memaudit.privacy.accounting import Budget, Filter
from memaudit.privacy.dp_network import Settings as NetworkSettings
from memaudit.privacy.dp_network import train
from memaudit.privacy.gnmax import Confident, label
from memaudit.privacy.noisy_means import label_means
from memaudit.privacy.release_methods import Private
from memaudit.privacy.tabpate_release import Ask, Settings, planned, predictions, votes
from memaudit.privacy.teacher_shards import shards_of


def answered(
    arm: Mapping[str, Any], private: Private, budget: Budget, queries: NDArray[np.float32], ask: Ask, seed: int
) -> NDArray[np.float32] | NDArray[np.float64]:
    """What a method that releases no context says to queries (m, d): logits (m, class), or numbers (m,).

    DP-SGD: of a network whose first weights are drawn by `seed`. Query-Time: `at_query_time`, -inf for other labels.
    """
    if arm["method"] == "dp-sgd":
        settings = NetworkSettings(**arm["settings"])
        fitted = train(private.x, private.y, private.units, private.public, budget, settings, seed)
        return fitted.predict(queries)
    found = at_query_time(arm, private, budget, queries, ask)
    if private.public.task == "regression":
        return found
    return np.where(found[:, None] == np.arange(len(private.public.target.values)), 0.0, -np.inf)


def at_query_time(
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
