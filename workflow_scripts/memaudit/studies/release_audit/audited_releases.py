"""Worst-case canaries for each part of a private release, and the same releases broken on purpose.

Each condition is the whole release, from the file of the table to the released records; only what the adversary knows
is held fixed. See docs/release-audit.md.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from memaudit.privacy.accounting import Budget, rho_within
from memaudit.privacy.discrete_noise import Noise, discrete_gaussian
from memaudit.privacy.public_facts import Public
from memaudit.privacy.tabpate_release import Released, Settings, TabPATE, planned
from memaudit.privacy.teacher_shards import Predict, Private
from memaudit.privacy.tuned_alpha import Tuning, release_tuned
from memaudit.statistics.distinguishing_tests import Distinguished, distinguish
from memaudit.studies.release_audit.broken_releases import TwoShards, facts_of, halved, with_free_checks
from memaudit.studies.release_audit.neighbour_tables import (
    FACTS,
    MARKED,
    Neighbours,
    base_rows,
    decided,
    marks_model,
    neighbours,
    read,
)

BUDGET = Budget(1.0, 1e-5)
AS_RELEASED, HALVED = "as released", "noise halved"
CORNER = {"mark": 1.0, "kind": "b", "answer": "yes"}
OUTSIDE = {"mark": 1000.0, "kind": "c", "answer": "yes"}
MOMENTS = Settings(2000, prior="moments", alpha=1.0, by_class=True, labels="group")
VOTES = Settings(10, teachers=11)
THRESHOLD = Settings(200, teachers=21, threshold=15.5, sigma1=20.0, sigma2=60.0)
TUNED = Tuning((0.0, 0.5), 0.5, Settings(10, teachers=11))

Release = Callable[[TabPATE], Any]


@dataclass(frozen=True)
class Condition:
    """A part of the release, its canary, and how the release is made; `broken` as released, or what is broken.

    tables: the neighbours; mu: promised; share: of the runs, for conditions whose test is strong; predict: the model;
    seen: what the adversary looks at, None for `features`.
    """

    part: str
    canary: str
    broken: str
    tables: Callable[[], Neighbours]
    release: Release
    mu: Callable[[Public], float]
    noise: Noise = discrete_gaussian
    share: float = 1.0
    predict: Predict = marks_model
    seen: Callable[[Any], list[float]] | None = None

    def audited(self, runs: int, level: float) -> tuple[float, Distinguished]:
        """mu of Gaussian DP that the release promises, and the bound from runs with the canary and without it.

        runs: with each table, of a condition whose share is 1.
        """
        pair, count = self.tables(), round(self.share * runs)
        found = (np.array([self._features(one) for _ in range(count)]) for one in (pair.inside, pair.outside))
        return self.mu(pair.outside.public), distinguish(*found, level)

    def _features(self, private: Private) -> list[float]:
        # The adversary knows the seed of the queries, which is not secret.
        released = self.release(TabPATE(private, self.predict, np.random.default_rng(0), self.noise))
        return (self.seen or features)(released)


def features(released: Released) -> list[float]:
    """What the adversary looks at: numbers of the statement, the labels, and the numbers and kinds of each class."""
    found = [float(released.queried), float(released.answered)]
    found += [one["noisy_loss"] for one in released.statement.get("candidates", {}).values()]
    x = np.nan_to_num(released.x.astype(np.float64))
    for label in (0, 1):
        own = x[released.y == label]
        found.append(float(len(own)))
        found += [*own.mean(0), *own.std(0)] if len(own) else [0.0] * 2 * x.shape[1]
    return [*found, *(np.ravel([x.min(0), x.max(0)]) if len(x) else [0.0] * 2 * x.shape[1])]


def conditions() -> dict[str, Condition]:
    """All conditions of the audit by name, each part as released and then broken.

    Bounds that are narrowed by half of the budget have no broken release: the attack sees too little of both halves.
    """
    votes, moments, corner = _of_settings(VOTES), _of_settings(MOMENTS), base_rows(120, 480)
    few, many = base_rows(22, 22, marked=5), base_rows(44, 44, marked=26)
    at_corner, narrowed = "a record at the corner of the bounds", _of_settings(replace(MOMENTS, narrowed=True))
    lifting, loss = "a record that lifts the largest count over it", "a record that all candidates predict wrongly"
    first = _part("moments, bounds narrowed", at_corner, _plain(corner, CORNER), *narrowed)
    parts = [
        _part("moments", at_corner, _plain(corner, CORNER), *moments),
        _part("schema", "a record beyond bounds and categories", _plain(corner, OUTSIDE), *moments),
        _part("votes", "a record that decides the vote of its teacher", _sharded(few, CORNER), *votes),
        _part("partition", "a duplicate of another record", _sharded(few, MARKED), *votes),
        _part("threshold", lifting, _sharded(many, CORNER, 21, 15), *_of_settings(THRESHOLD)),
        _part("tuned alpha", loss, _sharded(few, CORNER), _tuned, _tuned_mu),
    ]
    parts = [replace(one, share=0.5) if place > 1 else one for place, one in enumerate(parts)]
    of = {one.part: one for one in parts}
    broken = [
        *(replace(one, broken=HALVED, noise=halved) for one in parts),
        replace(of["schema"], broken="bounds from the records", tables=_own_bounds(corner, OUTSIDE), share=0.1),
        replace(of["partition"], broken="one record in two shards", tables=_sharded(few, MARKED, private=TwoShards)),
        replace(
            of["threshold"],
            broken="checks not charged",
            release=lambda mechanism: with_free_checks(mechanism, THRESHOLD, BUDGET),
            share=0.25,
        ),
    ]
    return {f"{one.part}: {one.broken}": one for one in (first, *parts, *broken)}


def _part(
    part: str, canary: str, tables: Callable[[], Neighbours], release: Release, mu: Callable[[Public], float]
) -> Condition:
    return Condition(part, canary, AS_RELEASED, tables, release, mu)


def _of_settings(settings: Settings) -> tuple[Release, Callable[[Public], float]]:
    return (
        lambda mechanism: mechanism.release(settings, BUDGET),
        lambda public: planned(settings, BUDGET, public).guarantee(public).mu,
    )


def _tuned(mechanism: TabPATE) -> Released:
    return release_tuned(mechanism, TUNED, BUDGET)


def _tuned_mu(_: Public) -> float:
    return float(np.sqrt(2 * rho_within(BUDGET)))


def _with(rows: pd.DataFrame, record: Mapping[str, Any]) -> pd.DataFrame:
    return pd.concat([rows, pd.DataFrame([record])], ignore_index=True)


def _plain(rows: pd.DataFrame, record: Mapping[str, Any]) -> Callable[[], Neighbours]:
    return lambda: neighbours(read(rows), read(_with(rows, record)))


def _sharded(
    rows: pd.DataFrame, record: Mapping[str, Any], teachers: int = 11, ones: int = 5, private: type[Private] = Private
) -> Callable[[], Neighbours]:
    return lambda: decided(read(rows), read(_with(rows, record)), teachers, ones, private)


def _own_bounds(rows: pd.DataFrame, record: Mapping[str, Any]) -> Callable[[], Neighbours]:
    both = _with(rows, record)
    return lambda: neighbours(read(rows, facts_of(rows, FACTS)), read(both, facts_of(both, FACTS)))
