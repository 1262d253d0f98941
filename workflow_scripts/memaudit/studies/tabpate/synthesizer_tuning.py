"""Scores of settings of AIM and MST on tuning tables, as of `settings_tuning`: all syntheses of a setting in one job.

The synthesizers need an environment of their own, whose start takes longer than many a synthesis: `samples` writes all
that it needs, `scores` reads what it has made. Codes, bins and budgets are those of the study
(workflow_scripts/tabpate/code_records.py and synthesize_records.py).
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd

from memaudit.common import seeds
from memaudit.privacy.accounting import Budget
from memaudit.privacy.noisy_bins import remaining
from memaudit.privacy.record_discretization import coded, counts, released_edges, restored
from memaudit.privacy.teacher_shards import Predict
from memaudit.studies.tabpate.evaluation_tables import Table
from memaudit.studies.tabpate.settings_tuning import ROLES, gain

Tables = Sequence[tuple[Table, Predict]]
Synthesize = Callable[[list[dict[str, Any]]], list[Mapping[str, list[int]]]]


def scores(
    tables: Tables, entry: Mapping[str, Any], epsilons: Sequence[float], delta: float, repeats: int, run: Synthesize
) -> list[list[float]]:
    """Scores (epsilon, table and repeat) of a setting of AIM or MST on tuning tables.

    entry: method, held_out and settings, as in the config; run: synthesizes samples, each with settings of its own, and
    returns the codes of each, by column.
    """
    cases = [(place, repeat) for place in range(len(tables)) for repeat in range(repeats)]
    samples = [
        sample(tables[place][0], entry, Budget(epsilon, delta), repeat)
        for epsilon in epsilons
        for place, repeat in cases
    ]
    synthetic = iter(zip(samples, run(samples), strict=True))
    return [
        [_score(*tables[place], repeat, *next(synthetic)) for place, repeat in cases]
        for _ in epsilons
    ]  # fmt: skip


def sample(table: Table, entry: Mapping[str, Any], budget: Budget, repeat: int) -> dict[str, Any]:
    """Codes of the private records of a repeat, by column, and how they are to be synthesized; `edges` of their bins.

    The epsilon is what the bins leave. The codes are as private as the records.
    """
    settings = entry["settings"]
    private = table.private(table.roles(ROLES, 0, repeat), ROLES, entry["held_out"])
    rho, left = remaining(budget, settings["bins_share"])
    edges = released_edges(private, rho, settings["bins"], settings["columns"])
    return {
        "codes": coded(private, edges, settings["columns"]).to_dict("list"),
        "counts": counts(table.public, edges, settings["columns"]),
        "edges": edges,
        "method": entry["method"],
        "epsilon": left.epsilon,
        "delta": budget.delta,
        **{key: settings[key] for key in ("iterations", "rounds", "rows")},
    }


def _score(
    table: Table, predict: Predict, repeat: int, of: Mapping[str, Any], synthetic: Mapping[str, list[int]]
) -> float:
    rng = seeds.generator(0, "tuning", table.public.dataset, "restored", repeat)
    context = restored(pd.DataFrame(synthetic)[list(of["counts"])], table.public, of["edges"], rng)
    tested = table.tested(table.roles(ROLES, 0, repeat))
    return gain(table, tested, table.student_answers(context, table.x[tested], predict))
