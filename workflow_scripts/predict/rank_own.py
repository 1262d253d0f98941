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

import pandas as pd

from memaudit.attacks.memorization_predictors import limit, predictors
from memaudit.common import seeds
from memaudit.common.errors import AuditError
from memaudit.common.io import replacing, write_table
from memaudit.plotting import result_tables
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
from memaudit.workflow.job import run

PAGE = """\
# Records at risk of being memorized
{records:,} training records, ranked by {predictor}; {flagged:,} are flagged: their score is {threshold:g} or more,
the recommended threshold ({chosen}). {doubt}

In the study ({case}, {targets} targets, ground truth by LiRA with {models} models), such a flag had a true positive
rate of {tpr_text} over {positives:,} records that were memorized at the end of training, and a false positive rate of
{fpr_text} over {negatives:,} that were not; a record counts once for each target that was trained on it. There,
{memorized[estimate]:.1%} of the records counted as memorized, and {memorized[null]:.1%} would by chance. Brackets are
95 % intervals. The study used other data and models than yours: the rates hold as far as yours are similar, at a
checkpoint where the median training loss has fallen by {drop:.1%} ({least_drop:.1%} to {most_drop:.1%} in the study),
with hidden states of the {layer} layer. {timing} A flag is no proof: LiRA measures what a model has memorized.

{table}
Higher scores mean more risk. psmi: minus the pointwise sliced mutual information, in nats, with its standard error;
loss: in nats; logit_gap: the largest other logit minus the label's; mahalanobis: the distance from all other records,
in {dimensions} principal components{alone}. {more}The table lists the first {listed} records.
"""
NEAR = """\
{near:,} lie within {sure} Monte-Carlo standard errors of it ({directions:,}
random directions): another draw of the directions could change their flag."""
ALONE = " (limited for {:,} records that alone spread some hidden unit, as one that is active for no other record)"
RELATIVE = """\
The score is relative to the other
records of the table: it ranks them, and does not tell how many a model memorizes."""
COMBINED = """\
{predictor}: the weighted sum of normal
scores of {features}; neighbour_disagreement, neighbour_value: share of the nearest records with another
label, minus the Shapley value; gradient_norm: of the loss by the head's weights; share_wrong, forgetting_events,
mean_loss: over checkpoints. """


def main(job):
    os.umask(0o077)  # a user's table: readable by its owner only
    params, path = job.params, job.input.records
    setting = read_setting(job.input.results, params.predictor)
    records, states = read_records(path, job.input.get("states"))
    labels = records["label"].astype(str).to_numpy()
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
    counts = {"directions": psmi.directions, "dimensions": dimensions, "timing": timing(records, path, setting)}
    page = describe(ranked, setting, counts)
    for file, text in ((job.output.csv, ranked.to_csv(index=False, lineterminator="\n")), (job.output.page, page)):
        with replacing(file) as temporary:
            temporary.write_text(text, encoding="utf-8")
    Path(job.output.page).parent.chmod(0o700)  # Snakemake made it readable for all
    return {"seed": params.seed}


def describe(ranked: pd.DataFrame, setting: dict, counts: dict, listed: int = 20) -> str:
    """The page: number of flags, their measured error rates, and the first records of the list."""
    top = ranked.head(listed)
    lines = [[result_tables.cell(value) for value in line] for line in top.itertuples(index=False)]
    table = result_tables.markdown(list(top), lines, [pd.api.types.is_numeric_dtype(kind) for kind in top.dtypes])
    rates = ["{estimate:.0%} [{low:.0%}, {high:.0%}]".format(**setting[name]) for name in ("tpr", "fpr")]
    counts, learned = counts | {"near": ranked["near_threshold"].sum(), "sure": STANDARD_ERRORS}, "features" in setting
    facts = {"records": len(ranked), "flagged": ranked["flagged"].sum()}
    farthest = int((ranked["mahalanobis"] > 0.99 * limit(len(ranked))).sum())
    facts |= {"alone": ALONE.format(farthest) if farthest else ""}
    facts |= {"doubt": RELATIVE if learned else NEAR.format(**counts)}
    facts |= {"more": COMBINED.format(**setting | {"features": ", ".join(setting["features"])}) if learned else ""}
    facts |= {"positives": setting["tpr"]["n"], "negatives": setting["fpr"]["n"]}
    facts |= dict(zip(("tpr_text", "fpr_text"), rates, strict=True))
    return PAGE.format(**setting | facts | counts, table=table, listed=len(top))


if __name__ == "__main__":
    run(main, globals())
