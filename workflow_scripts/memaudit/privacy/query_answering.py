"""Private methods that release no context but answer queries directly (TabPATE, Section 5.1, Appendix C)."""

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
    entry: Mapping[str, Any], private: Private, budget: Budget, queries: NDArray[np.float32], ask: Ask, seed: int
) -> NDArray[np.float32] | NDArray[np.float64]:
    """Answers of a method without a context to queries (m, d): logits (m, class), or numbers (m,).

    entry: method and its settings, as in the config. DP-SGD: answers of a network whose initial weights are drawn from
    `seed`. Query-Time: those of `at_query_time`, as 0 for the label and -inf for all others.
    """
    if entry["method"] == "dp-sgd":
        settings = NetworkSettings(**entry["settings"])
        fitted = train(private.x, private.y, private.units, private.public, budget, settings, seed)
        return fitted.predict(queries)
    labels = at_query_time(entry, private, budget, queries, ask)
    if private.public.task == "regression":
        return labels
    return np.where(labels[:, None] == np.arange(len(private.public.target.values)), 0.0, -np.inf)


def at_query_time(
    entry: Mapping[str, Any], private: Private, budget: Budget, queries: NDArray[np.float32], ask: Ask
) -> NDArray[np.int64] | NDArray[np.float64]:
    """Query-Time: noisy labels or means of the PATE teachers for the queries (m,), which share the budget."""
    teachers = entry["settings"]["teachers"]
    plan = planned(Settings(len(queries), teachers), budget, private.public)
    shards = shards_of(private.units, private.key, teachers)
    contexts = [(private.x[shards == shard], private.y[shards == shard]) for shard in range(teachers)]
    allowance = Filter(plan.rho)
    if private.public.task == "classification":
        counts = votes(contexts, queries, len(private.public.target.values), ask)
        return label(counts, Confident(None, None, plan.votes.sigma2), allowance).labels
    lower, upper = private.public.target.bounds
    predicted = predictions(contexts, queries, private.public, ask)
    return lower + (upper - lower) * label_means(predicted, plan.votes.sigma2, allowance)
