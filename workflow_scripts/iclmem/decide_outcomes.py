"""Decide about the runs of all tasks together: what is detected, what survives, and what chance would give (ICLMEM).

python workflow_scripts/iclmem/decide_outcomes.py --input runs=wine/runs.parquet runs=joint/runs.parquet \
    null=wine/null.nc null=joint/null.nc --output tidy=outcomes.parquet \
    --params '{"seed": 1, "iclmem": {"fpr": [0.1, 0.01], "replicates": 200,
        "rules": {"as_written": {"auc": 0.5}, "as_tabulated": {"auc": 0.55}}}, "published": []}'

`runs` and `null` are what iclmem_judge_runs.py writes of each task, in the same order; multiplicity is over all tasks.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd
import xarray as xr

from memaudit import tidy
from memaudit.errors import AuditError
from memaudit.io import read_grid, read_table, write_table
from memaudit.studies.iclmem import decisions
from memaudit.studies.iclmem import outcome_shares as shares
from memaudit.studies.iclmem import rule_checks as checks
from memaudit.studies.iclmem.decisions import Study
from memaudit.studies.iclmem.run_outcomes import Rule
from memaudit.studies.iclmem.run_results import STUDY
from memaudit.studies.iclmem.setting_results import PLACEBO
from memaudit.workflow.job import run, several


def main(job):
    asked, seed = job.params.iclmem, job.params.seed
    study, placebo = _studies(several(job.input.runs), several(job.input.null))
    known = {name: Rule(**thresholds) for name, thresholds in asked["rules"].items()}
    resampled = shares.Resampled(asked["replicates"], seed)
    decided = decisions.decisions(study)
    effects = list(decisions.label_effects(study, seed))
    results = [
        *decisions.decision_rows(study, decided),
        *decisions.peaks(study, decided, asked["fpr"]),
        *(row for row, _, _ in effects),
        *shares.shares(study.runs, resampled),
        *shares.tables(study.runs, resampled),
        *shares.loss_ratios(study.runs),
        *shares.flagged(study, next(iter(known.values())), resampled),
        *checks.permutations(study, known, resampled),
        *checks.placebos(placebo, known, resampled),
        *checks.survival(study, known, decided, effects, resampled),
        *checks.variation(study),
        *checks.manipulations(study, resampled),
        *_published(job.params.published),
    ]
    write_table(tidy.frame(results), job.output.tidy)
    return {"seed": seed}


def _published(entries: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """What the paper prints, as lines of their own; each entry has the keys of a setting and what is printed there."""
    for entry in entries:
        keys = {"source": "paper", **{name: value for name, value in entry.items() if name != "printed"}}
        for metric, value in entry["printed"].items():
            yield tidy.row(STUDY, keys, metric, value, method="as printed")


def _studies(runs: list[str], nulls: list[str]) -> tuple[Study, Study]:
    """All tasks together, placebo arms apart. Raises AuditError where a table and a grid are not of the same runs."""
    table = pd.concat([read_table(path) for path in runs], ignore_index=True)
    null = xr.concat([read_grid(path) for path in nulls], "run", join="outer", data_vars="all")
    names: list[Any] = ["dataset", "arm", "split", "epoch"]
    if len(table) != null.sizes["run"] or any((table[name] != null[name].values).any() for name in names):
        raise AuditError(
            "iclmem: `runs` and `null` are not of the same runs; give both of each task, in the same order"
        )
    apart = table["regime"].str.split().map(lambda kinds: PLACEBO in kinds).astype(bool)
    return tuple(
        Study(table[chosen].reset_index(drop=True), null.isel(run=chosen.to_numpy())) for chosen in (~apart, apart)
    )


if __name__ == "__main__":
    run(main, globals())
