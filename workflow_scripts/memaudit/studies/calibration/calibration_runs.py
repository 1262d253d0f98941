"""The study of an audit's calibration: its tables and generators, their checks, and how each rate is judged."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import xarray as xr

from memaudit.common import seeds
from memaudit.studies.calibration import repeated_audits as audits
from memaudit.studies.calibration.answer_pools import generated, queried, records
from memaudit.studies.coverage.coverage_registry import Outcome, summarise

RECORDS, POOL, FEW = 240, 400, 320  # records of a table at most; contexts of a pool, and where audits are alike
REPETITIONS = {"precision": 200, "precision of 64": 200, "quick": 60, "controls": 30, "no leak": 100, "full leak": 100}
NEAR = 0.02  # of the stated level of a predictive range
Check = Callable[[xr.Dataset, int, np.random.Generator], audits.Outcomes]
CHECKS: Mapping[str, Check] = {
    "precision": lambda pool, number, rng: audits.one_deployment(pool, number, audits.CONTEXTS, rng),
    "precision of 64": lambda pool, number, rng: audits.one_deployment(pool, number, 2 * audits.CONTEXTS, rng),
    "quick": audits.quick_and_full,
    "controls": audits.controls,
    "no leak": audits.leak_found,
    "full leak": audits.leaks_fully,
}


@dataclass(frozen=True)
class Limits:
    """Demanded range of a rate, and what it is the rate of."""

    what: str
    least: float = 0.0
    most: float = 1.0


LIMITS = {
    "precision": Limits("the predictive range has the precision of one deployed context; 32 contexts"),
    "precision of 64": Limits("the predictive range has the precision of one deployed context; 64 contexts"),
    "quick": Limits("the quick stage's interval has the complete audit's AUC (32 and 128 contexts)", 0.9),
    "controls": Limits("a negative control is detected", most=0.05),
    "no leak": Limits("a leak is detected where none can be", most=0.0),
    "full leak": Limits("a full leak is missed", most=0.0),
}


@dataclass(frozen=True)
class Source:
    """Where answers come from, and the checks that they serve.

    pool: makes the answers of this number of contexts.
    """

    pool: Callable[[int, np.random.Generator], xr.Dataset]
    checks: Sequence[str]
    contexts: int = POOL


def _of_table(name: str, model: str, most: int = RECORDS) -> Callable[[int, np.random.Generator], xr.Dataset]:
    return lambda contexts, rng: queried(records(name), model, most, contexts, rng)


def _generator(**leak: float) -> Callable[[int, np.random.Generator], xr.Dataset]:
    return lambda contexts, rng: generated(contexts, RECORDS, rng, **leak)


USUAL = ("precision", "quick", "controls")
SOURCES: Mapping[str, Source] = {
    "credit-g, tabicl-small": Source(_of_table("credit-g", "tabicl-small"), USUAL),
    "blood-transfusion, tabicl-small": Source(_of_table("blood-transfusion", "tabicl-small"), USUAL),
    "breast cancer, random forest": Source(_of_table("breast_cancer", "random forest"), USUAL),
    "digits, 1 nearest neighbour": Source(_of_table("digits", "1 nearest neighbour"), USUAL),
    "wine, 15 nearest neighbours": Source(_of_table("wine", "15 nearest neighbours"), USUAL),
    "generator, no leak": Source(_generator(), USUAL),
    "generator, a leak of one deviation": Source(_generator(shift=1.0), (*USUAL, "precision of 64")),
    "generator, one record of ten leaks": Source(_generator(shift=4.0, leaking=0.1), USUAL),
    "blood-transfusion, constant classifier": Source(
        _of_table("blood-transfusion", "constant classifier", 150), ("no leak",), FEW
    ),
    "no shared labels, 1 nearest neighbour": Source(
        _of_table("no shared labels", "1 nearest neighbour"), ("full leak",), FEW
    ),
}


def measure(name: str, repetitions: Mapping[str, int], seed: int) -> dict[str, Any]:
    """One source with all its checks: CPU seconds, and `rows`, one for each rate."""
    source, start = SOURCES[name], time.process_time()
    pool = source.pool(source.contexts, seeds.generator(seed, "calibration", name, "answers"))
    rows = []
    for check in source.checks:
        number = repetitions[check]
        outcomes = CHECKS[check](pool, number, seeds.generator(seed, "calibration", name, check))
        rows += [row(check, metric, found, number) for metric, found in outcomes.items()]
    facts = {"records": pool.sizes["record"], "members": int(pool.member.sum()), "contexts": source.contexts}
    facts |= {"repetitions": {check: repetitions[check] for check in source.checks}, "seed": seed}
    return {**facts, "cpu_seconds": round(time.process_time() - start, 1), "rows": rows}


def row(check: str, metric: str, outcomes: Sequence[Outcome | audits.Predicted], number: int) -> dict[str, Any]:
    """Rate of a metric over repeated audits, as `coverage_registry.summarise`, judged by the limits of its check.

    Predictive ranges have `level`, too: the mean of those stated, by which they are judged.
    """
    limits, facts = LIMITS[check], {}
    if isinstance(outcomes[0], audits.Predicted):
        level = float(np.mean([one.level for one in outcomes]))
        limits, facts = replace(limits, least=level - NEAR, most=level + NEAR), {"level": level}
        outcomes = [one.interval() for one in outcomes]
    found = summarise(outcomes, number) | facts
    return found | {"check": check, "metric": metric, "verdict": verdict(limits, found["rate"], found["error"])}


def verdict(limits: Limits, rate: float | None, error: float | None) -> str:
    """The rate as a word: "holds", "misses", "conservative", or "not told from the limit": within two errors of it."""
    if rate is None:
        return "not defined"
    beyond = max(limits.least - rate, rate - limits.most)
    if beyond <= 0:
        return "holds"
    if beyond <= 2 * (error or 0.0):
        return "not told from the limit"
    return "conservative" if rate > limits.most and limits.least > 0 else "misses"


def is_current(known: Mapping[str, Any], name: str, repetitions: Mapping[str, int], seed: int) -> bool:
    """Whether a measured source has the present checks and numbers."""
    source = SOURCES[name]
    asked = {"repetitions": {check: repetitions[check] for check in source.checks}, "seed": seed}
    return asked | {"contexts": source.contexts} == {key: known[key] for key in (*asked, "contexts")}
