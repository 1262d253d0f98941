"""Evaluate the predictors of memorization on one setting (Section 5), and measure the recommended settings (Table 1).

python workflow_scripts/predict/judge_predictors.py --input records=records.nc scores=scores.nc signals=0.nc \
    signals=1.nc --output tidy=predictors.parquet roc=roc.parquet records=by_record.parquet \
    recommended=recommended.json --wildcards '{"case": "table_mlp"}' --params '{"seed": 1, "drop": 0.95,
        "tolerance": 0.03, "interrupt": "first", "memorized": 4.0, "thresholds": [0, 2, 6], "fpr": [0.01, 0.1],
        "tpr": [0.75, 0.9], "replicates": 200}'

Ground truth is log-LiRA of the logit gap at the end of training, all other models of the setting as shadow models; the
baseline is the same at the interruption. Predictors are evaluated on a target's own training records, those that
nobody planted unless it is said otherwise.
"""

import xarray as xr

from memaudit.attacks.score_matrices import gather
from memaudit.common import tidy
from memaudit.common.io import read_grid, write_json, write_table
from memaudit.studies.predict.judged_setting import STUDY
from memaudit.studies.predict.natural_truth import targets_first
from memaudit.studies.predict.prediction_checkpoints import MeasuredSetting
from memaudit.studies.predict.prediction_cost import cost_rows
from memaudit.studies.predict.predictor_evaluation import PredictorEvaluation
from memaudit.studies.predict.truth_evaluation import circumstances, truth_rows
from memaudit.workflow.job import run

PREDICTORS = ("psmi", "loss", "logit_gap", "mahalanobis")
DEEP = ("psmi", "mahalanobis")


def main(job):
    params, files = job.params, job.input
    records, scores, signals = read_grid(files.records), read_grid(files.scores), gather(files.signals)
    setting = measured(records, scores, signals, params)
    options = params.thresholds, params.fpr, params.tpr, params.replicates, params.seed
    evaluation = PredictorEvaluation(setting, params.memorized, *options)
    rows = [*truth_rows(evaluation), *evaluation.results(), *cost_rows(STUDY, setting, seconds(scores, signals))]
    write_table(tidy.frame(rows), job.output.tidy)
    write_table(tidy.frame(list(evaluation.curves())), job.output.roc)
    write_table(tidy.frame(list(evaluation.records(records.record.values))), job.output.records)
    lines = [line.facts() | circumstances(evaluation) for line in evaluation.recommended]
    write_json(lines, job.output.recommended)
    for row in rows:
        if row["metric"] == "auc" and "truth=memorized, records=natural, rule=" + setting.rule in row["setting"]:
            print(f"{row['setting']}: AUC {row['estimate']:.3f}", flush=True)
    return {"seed": params.seed}


def measured(records: xr.Dataset, scores: xr.Dataset, signals: xr.Dataset, params) -> MeasuredSetting:
    """The setting with its measurements. Raises AuditError where models are missing."""
    order = targets_first(records, scores, signals)
    return MeasuredSetting(
        name=records.case,
        epochs=signals.checkpoint.values.astype(float),
        gap=signals.gap.values[order],
        membership=records.membership.values.astype(bool)[order],
        second_half=order >= len(order) // 2,
        loss=signals.loss.values[order],
        predictors={name: scores[name].values for name in PREDICTORS},
        layers={name: scores[f"layers_{name}"].values for name in DEEP},
        inputs=scores.psmi_inputs.values,
        rule=params.interrupt,
        drop=params.drop,
        tolerance=params.tolerance,
        mislabelled=records.mislabelled.values.astype(bool),
        canary=records.canary.values.astype(bool),
        unit=records.unit.values,
    )


def seconds(scores: xr.Dataset, signals: xr.Dataset) -> dict[str, float]:
    """CPU seconds of training on one record, of querying one, and of scoring a checkpoint."""
    spent = {name: float(signals[name].sum()) for name in ("training_seconds", "trained", "query_seconds", "queried")}
    return {
        "trained": spent["training_seconds"] / spent["trained"],
        "queried": spent["query_seconds"] / spent["queried"],
        "scoring": float(scores.seconds.mean()),
    }


if __name__ == "__main__":
    run(main, globals())
