"""Test the runs of all tasks together: detected settings, checks of detections, and false positive rates (ICLMEM).

python workflow_scripts/iclmem/decide_outcomes.py --input runs=wine/runs.parquet runs=joint/runs.parquet \
    null=wine/null.nc null=joint/null.nc --output tidy=outcomes.parquet \
    --params '{"seed": 1, "iclmem": {"fpr": [0.1, 0.01], "replicates": 200,
        "rules": {"as_written": {"auc": 0.5}, "as_tabulated": {"auc": 0.55}}, "doses": {}}, "published": []}'

runs, null: outputs of `iclmem_judge_runs` for each task, in the same order. Corrections for multiple tests are over all
tasks.
"""

from typing import Any

import pandas as pd
import xarray as xr

from memaudit.common import tidy
from memaudit.common.errors import AuditError
from memaudit.common.io import read_grid, read_table, write_table
from memaudit.common.job_inputs import several
from memaudit.config.iclmem_section import DOSES
from memaudit.statistics.dataset_means import published
from memaudit.studies.iclmem import largest_signals, outcome_shares, rule_validation, significance_tests
from memaudit.studies.iclmem.defence_effects import defence_effects
from memaudit.studies.iclmem.dose_response import dose_axes, dose_response
from memaudit.studies.iclmem.epoch_effects import epoch_effects
from memaudit.studies.iclmem.label_effects import label_effects
from memaudit.studies.iclmem.manipulation_effects import manipulation_rows
from memaudit.studies.iclmem.outcome_rules import Rule
from memaudit.studies.iclmem.positive_controls import positive_controls
from memaudit.studies.iclmem.probe_misses import mean_aucs
from memaudit.studies.iclmem.regime_effects import regime_effects
from memaudit.studies.iclmem.run_metrics import STUDY
from memaudit.studies.iclmem.setting_summaries import NEGATIVE_CONTROL, POSITIVE_CONTROL
from memaudit.studies.iclmem.significance_tests import Study
from memaudit.workflow.job import run

CONTROLS = (NEGATIVE_CONTROL, POSITIVE_CONTROL)


def main(job):
    params, seed = job.params.iclmem, job.params.seed
    study, controls, positives = _studies(several(job.input.runs), several(job.input.null), seed)
    rules = {name: Rule(**thresholds) for name, thresholds in params["rules"].items()}
    resampling = outcome_shares.SplitBootstrap(params["replicates"], seed)
    decided = significance_tests.decisions(study)
    effects = list(label_effects(study, seed))
    rows = [
        *significance_tests.decision_rows(study, decided),
        *mean_aucs(study.runs),
        *largest_signals.peaks(study, decided, params["fpr"]),
        *largest_signals.tpr_peaks(study, params["fpr"]),
        *(row for effect in effects for row in effect.rows),
        *regime_effects(study.runs),
        *epoch_effects(study.runs),
        *dose_response(study, DOSES),
        *dose_response(controls, DOSES),
        *dose_response(positives, DOSES),
        *dose_axes(study, params["doses"]),
        *positive_controls(positives),
        *defence_effects(study.runs),
        *outcome_shares.shares(study.runs, resampling),
        *outcome_shares.dataset_rows(study.runs, resampling),
        *outcome_shares.loss_ratios(study.runs),
        *outcome_shares.flagged(study, next(iter(rules.values())), resampling),
        *rule_validation.permutation_rates(study, rules, resampling),
        *rule_validation.negative_control_rates(controls, rules, resampling),
        *rule_validation.survival(study, rules, decided, effects, resampling),
        *rule_validation.variation(study),
        *manipulation_rows(study, resampling),
    ]
    rows += published(STUDY, job.params.published, tidy.frame(rows))
    write_table(tidy.frame(rows), job.output.tidy)
    return {"seed": seed}


def _studies(runs: list[str], nulls: list[str], seed: int) -> tuple[Study, Study, Study]:
    """All runs but controls, those of negative controls, and those of positive ones.

    Raises AuditError where `runs` and `null` are not of the same runs.
    """
    table = pd.concat([read_table(path) for path in runs], ignore_index=True)
    null = xr.concat([read_grid(path) for path in nulls], "run", join="outer", data_vars="all")
    names: list[Any] = ["dataset", "arm", "split", "epoch"]
    if len(table) != null.sizes["run"] or any((table[name] != null[name].values).any() for name in names):
        raise AuditError(
            "iclmem: `runs` and `null` are not of the same runs; give both of each task, in the same order"
        )
    kinds = table["regime"].str.split()
    negative, positive = (kinds.map(lambda of, name=name: name in of).astype(bool) for name in CONTROLS)
    return tuple(
        Study(table[chosen].reset_index(drop=True), null.isel(run=chosen.to_numpy()), seed)
        for chosen in (~negative & ~positive, negative, positive)
    )


if __name__ == "__main__":
    run(main, globals())
