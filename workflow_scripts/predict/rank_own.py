"""Rank your training records by their risk of being memorized, from one forward pass of your model.

python workflow_scripts/predict/rank_own.py --input records=records.parquet states=states.npy results=recommended.json \
    --output ranked=risk.parquet csv=risk.csv page=risk.md --params '{"seed": 1, "directions": 2000, "accuracy": null,
        "dimensions": 500, "classes": ["no", "yes"], "predictor": "psmi"}'

records: your training records, `id` and `label`, and optionally `loss` and `logits` (lists in the order of `classes`),
`losses` and `gaps` (lists over the checkpoints so far). states: hidden states of the last layer (record, feature) at a
checkpoint where the median training loss has fallen as far as in the results; without that file they are lists in the
column `hidden`. results: the settings that study predict recommends, with their measured error rates. predictor: psmi;
learned, which reads `logits`; or learned_checkpoints, which reads `losses` and `gaps`. No PyTorch or model is needed.
"""

import os
from pathlib import Path

from memaudit.attacks.memorization_predictors import limit, predictors
from memaudit.common import seeds
from memaudit.common.errors import AuditError
from memaudit.common.io import replacing, write_table
from memaudit.report.own_records_page import describe
from memaudit.studies.predict.user_records import (
    STANDARD_ERRORS,
    learned_scores,
    of_checkpoints,
    ranked_records,
    read_records,
    read_setting,
    stacked,
    timing,
)
from memaudit.workflow.job import run, tell


def main(job):
    os.umask(0o077)  # a user's table: readable by its owner only
    params, path = job.params, job.input.records
    setting = read_setting(job.input.results, params.predictor)
    records, states = read_records(path, job.input.get("states"))
    labels = records["label"].astype(str).to_numpy()
    if "logits" in records and not params.classes:
        raise AuditError(f"own/classes: {path} has a column `logits`; name the classes in the order of its columns")
    scores, psmi, dimensions = predictors(
        states,
        labels,
        seeds.generator(params.seed, "predict", "own", "psmi"),
        losses=records.get("loss"),
        logits=stacked(records["logits"], path) if "logits" in records else None,
        classes=[str(name) for name in params.classes or []],
        directions=params.directions,
        accuracy=params.accuracy,
        dimensions=params.dimensions,
    )
    if "features" in setting:
        scores = learned_scores(setting, job.input.results, states, labels, of_checkpoints(records, path) | scores)
    if setting["predictor"] not in scores:
        raise AuditError(
            f"{job.input.results}: recommends {setting['predictor']}, and {path} has no such column; add it"
        )
    ranked = ranked_records(records["id"], scores, psmi.error, setting)
    write_table(ranked, job.output.ranked)
    counts = {"directions": psmi.directions, "dimensions": dimensions, "sure": STANDARD_ERRORS}
    counts["alone"] = int((ranked["mahalanobis"] > 0.99 * limit(len(ranked))).sum())
    page = describe(ranked, setting, counts | {"timing": timing(records, scores.get("loss"), path, setting)})
    for file, text in ((job.output.csv, ranked.to_csv(index=False, lineterminator="\n")), (job.output.page, page)):
        with replacing(file) as temporary:
            temporary.write_text(text, encoding="utf-8")
    Path(job.output.page).parent.chmod(0o700)  # Snakemake made it readable for all
    tell(f"memaudit: {job.output.page}: your records, ranked by their risk of being memorized")
    return {"seed": params.seed}


if __name__ == "__main__":
    run(main, globals())
