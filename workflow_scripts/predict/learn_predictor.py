"""Learn a predictor of memorization from several settings, judged on each setting left out in turn.

python workflow_scripts/predict/learn_predictor.py --input records=a/records.nc scores=a/scores.nc signals=a/0.nc \
    records=b/records.nc scores=b/scores.nc signals=b/0.nc --output tidy=learned.parquet recommended=recommended.json \
    --params '{"seed": 1, "memorized": 4.0, "replicates": 200, "sources": {"a": "wine", "b": "digits"}}'

A logistic regression combines what is known of a record at the interruption of its target, without shadow models; the
truth, of natural records alone, is log-LiRA at the end of training. sources: the data of each setting; a setting is
left out with all others of its data. recommended: PSMI at 0 and the combinations learned from all settings, with error
rates on natural records of settings left out; a copy is shipped as resources/recommended.json (`make recommended`).
"""

import xarray as xr

from memaudit.attacks.score_matrices import gather
from memaudit.common import tidy
from memaudit.common.errors import AuditError
from memaudit.common.io import read_grid, readable, write_json, write_table
from memaudit.common.job_inputs import several
from memaudit.common.progress_bar import steps
from memaudit.studies.predict.learned_evaluation import MEAN, LearnedEvaluation
from memaudit.studies.predict.setting_features import SettingFeatures, setting_features
from memaudit.workflow.job import run


def main(job):
    params = job.params
    signals = by_case(several(job.input.signals))
    pairs = list(zip(several(job.input.records), several(job.input.scores), strict=True))
    settings = [features(records, scores, signals, params) for records, scores in steps(pairs, "settings")]
    evaluation = LearnedEvaluation(settings, params.seed)
    rows = list(evaluation.results())
    write_table(tidy.frame(rows), job.output.tidy)
    write_json(evaluation.recommended(), job.output.recommended)
    for row in rows:
        if row["setting"].startswith(f"case={MEAN}") and "difference" in row["metric"]:
            print(f"{row['setting']}: {row['metric']} {row['estimate']:.3f} [{row['low']:.3f}, {row['high']:.3f}]")
    return {"seed": params.seed}


def by_case(paths: list[str]) -> dict[str, list[str]]:
    """Files of signals by the setting that they are of."""
    files: dict[str, list[str]] = {}
    for path in paths:
        with readable(path), xr.open_dataset(path, engine="netcdf4") as file:
            files.setdefault(file.attrs["case"], []).append(path)
    return files


def features(records: str, scores: str, signals: dict[str, list[str]], params) -> SettingFeatures:
    """What is learned from a setting. Raises AuditError where models are missing."""
    prepared = read_grid(records)
    if not (paths := signals.get(prepared.case)):
        raise AuditError(f"{prepared.case}: no file of signals is given; give those of all its models")
    options = {"memorized": params.memorized, "replicates": params.replicates, "seed": params.seed}
    return setting_features(prepared, read_grid(scores), gather(paths), params.sources[prepared.case], **options)


if __name__ == "__main__":
    run(main, globals())
