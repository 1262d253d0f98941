"""Simulation of the registered cases: rows of coverage, size or excess, independent of the order of the cases."""

import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from memaudit.common import seeds
from memaudit.common.errors import AuditError
from memaudit.studies.coverage import (
    advice_cases,
    audit_cases,
    bound_cases,
    calibrated_score_cases,
    extrapolation_cases,
    few_unit_cases,
    score_matrix_cases,
    selection_cases,
    significance_cases,
)
from memaudit.studies.coverage.coverage_registry import CASES, Case, Outcome, summarise

# Importing a module registers its cases.
GROUPS = {
    "Score matrices": score_matrix_cases,
    "Calibrated scores": calibrated_score_cases,
    "Selected records, groups and companions": selection_cases,
    "The headline of an audit": audit_cases,
    "Advice of an audit": advice_cases,
    "What an audit extrapolates": extrapolation_cases,
    "Few units": few_unit_cases,
    "Shares and privacy bounds": bound_cases,
    "Tests": significance_cases,
}


def simulate(name: str, simulations: int, seed: int) -> dict[str, Any]:
    """One case simulated under each of its scenarios: its texts, CPU seconds, and `rows`, one for each metric."""
    case, start = CASES[name], time.process_time()
    number = case.simulations(simulations)
    rows = []
    for scenario, options in case.scenarios.items():
        for metric, outcomes in _outcomes(name, case, scenario, options, number, seed).items():
            rows.append({"scenario": scenario, "metric": metric, **summarise(outcomes, number)})
    spent = round(time.process_time() - start, 1)
    return {**described(name), "simulations": number, "seed": seed, "cpu_seconds": spent, "rows": rows}


def described(name: str) -> dict[str, str]:
    """Texts of a case on the page."""
    case = CASES[name]
    (group,) = (title for title, module in GROUPS.items() if module.__name__ == case.trial.__module__)
    return {"group": group, "name": case.name, "printed": case.printed, "use": case.use}


def is_current(known: Mapping[str, Any], name: str, simulations: int, seed: int) -> bool:
    """Whether a simulated case has these scenarios, numbers and seed; code is not compared."""
    case = CASES[name]
    same = known["simulations"] == case.simulations(simulations) and known["seed"] == seed
    return same and list(dict.fromkeys(row["scenario"] for row in known["rows"])) == list(case.scenarios)


def _outcomes(
    name: str, case: Case, scenario: str, options: Mapping[str, Any], number: int, seed: int
) -> dict[str, list[Outcome]]:
    """Outcomes of every metric over the simulated data sets; each has a stream of its own."""
    found: dict[str, list[Outcome]] = {}
    for place in range(number):
        rng = seeds.generator(seed, "coverage", name, scenario, place)
        with suppress(AuditError):  # refused: counted by `simulate`
            for metric, outcome in case.trial(rng, **options).items():
                found.setdefault(metric, []).append(outcome)
    return found
