"""Private methods that release no context but answer queries directly (TabPATE, Section 5.1, Appendix C)."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from memaudit.common.arrays import Array, Array32
from memaudit.privacy.accounting import Budget, Filter
from memaudit.privacy.dp_network import Settings as NetworkSettings
from memaudit.privacy.dp_network import train
from memaudit.privacy.gnmax import label
from memaudit.privacy.noisy_descent import Settings as LinearSettings
from memaudit.privacy.noisy_descent import train as train_linear
from memaudit.privacy.release_methods import settings_at
from memaudit.privacy.tabpate_release import Settings, mean_labels, planned
from memaudit.privacy.teacher_shards import Numbers, Predict, Private, Targets
from memaudit.privacy.teacher_votes import votes


def answered(
    entry: Mapping[str, Any],
    private: Private,
    budget: Budget,
    queries: Numbers,
    predict: Predict,
    seed: int,
) -> Array32 | Array:
    """Answers of a method without a context to queries (m, d): logits (m, class), or numbers (m,).

    entry: method and its settings, as in the config. DP-SGD: answers of a network whose initial weights are drawn from
    `seed`. DP-Linear: of a logistic or linear regression, without a seed. Query-Time: those of `at_query_time`, as 0
    for the label and -inf for all others.
    """
    if entry["method"] == "dp-sgd":
        settings = NetworkSettings(**settings_at(entry, budget.epsilon))
        return train(private, budget, settings, seed).predict(queries)
    if entry["method"] == "dp-linear":
        return train_linear(private, budget, LinearSettings(**settings_at(entry, budget.epsilon))).predict(queries)
    labels = at_query_time(entry, private, budget, queries, predict)
    if private.public.task == "regression":
        return labels
    return np.where(labels[:, None] == np.arange(len(private.public.target.values)), 0.0, -np.inf)


def at_query_time(
    entry: Mapping[str, Any], private: Private, budget: Budget, queries: Numbers, predict: Predict
) -> Targets:
    """Query-Time: noisy labels or means of the PATE teachers for the queries (m,), which share the budget."""
    teachers = settings_at(entry, budget.epsilon)["teachers"]
    plan = planned(Settings(len(queries), teachers), budget, private.public)
    contexts, allowance = private.teacher_contexts(teachers), Filter(plan.rho)
    if private.public.task == "regression":
        return mean_labels(contexts, queries, private.public, predict, plan.votes.sigma2, allowance)
    counts = votes(contexts, queries, len(private.public.target.values), predict)
    return label(counts, plan.votes, allowance).labels
