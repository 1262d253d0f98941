"""Releases that break their promise on purpose: the audit must refute each of them.

Each wraps one part of the real mechanism; the mechanism itself has no switch for it.
"""

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from memaudit.privacy.accounting import Budget
from memaudit.privacy.discrete_noise import discrete_gaussian
from memaudit.privacy.gnmax import Confident
from memaudit.privacy.tabpate_release import Released, Settings, TabPATE, planned
from memaudit.privacy.teacher_shards import Context, Private


def halved(center: NDArray[np.int64], sigma: float) -> NDArray[np.int64]:
    """Noise with half of the stated sigma."""
    return discrete_gaussian(center, sigma / 2)


def quartered(center: NDArray[np.int64], sigma: float) -> NDArray[np.int64]:
    """Noise with a fourth of the stated sigma."""
    return discrete_gaussian(center, sigma / 4)


def tenth(center: NDArray[np.int64], sigma: float) -> NDArray[np.int64]:
    """Noise with a tenth of the stated sigma."""
    return discrete_gaussian(center, sigma / 10)


class TwoShards(Private):
    """Private records, each of them in its own shard and in the next one."""

    def teacher_contexts(self, teachers: int) -> list[Context]:
        """The shard of each teacher, with the records of the one before it."""
        shards = super().teacher_contexts(teachers)
        return [
            tuple(map(np.concatenate, zip(one, shards[place - 1], strict=True))) for place, one in enumerate(shards)
        ]


class FreeChecks(Confident):
    """Confident-GNMax whose test of agreement is not charged."""

    @property
    def check_cost(self) -> float:
        """Nothing."""
        return 0.0


def with_free_checks(mechanism: TabPATE, settings: Settings, budget: Budget) -> Released:
    """The release whose checks of the threshold are not charged."""
    plan = planned(settings, budget, mechanism.private.public)
    return mechanism.release_by_plan(replace(plan, votes=FreeChecks(**asdict(plan.votes))), settings)


def facts_of(rows: pd.DataFrame, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Facts whose bounds and categories are those of the records, not published ones."""
    numeric = {name: pd.api.types.is_numeric_dtype(rows[name]) for name in facts["columns"]}
    columns = {
        name: [float(rows[name].min()), float(rows[name].max())] if number else sorted(rows[name].unique())
        for name, number in numeric.items()
    }
    return {**facts, "columns": columns}
