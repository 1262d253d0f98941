"""Which of your training records is your model about to memorize? A ranked list, from one forward pass.

python workflow_scripts/predict/rank_own.py --input records=records.parquet states=states.npy results=recommended.json \
    --output ranked=risk.parquet csv=risk.csv page=risk.md --params '{"seed": 1, "directions": 2000, "accuracy": null,
        "dimensions": 500, "classes": ["no", "yes"]}'

records: your training records, `id` and `label`, and if there are any `loss` and `logits` (a list a record, in the
order of `classes`). states: hidden states of the last layer (record, feature) where the median training loss has fallen
as far as the results say; without that file they are lists in the column `hidden`. results: the settings that study
predict recommends, as it measured them. Neither PyTorch nor a model is needed.
"""

import os
from pathlib import Path

import numpy as np
import pandas as pd

from memaudit import seeds
from memaudit.attacks.memorization_predictors import predictors
from memaudit.errors import AuditError
from memaudit.io import read_json, read_table, readable, replacing, write_table
from memaudit.plotting import result_tables
from memaudit.workflow.job import run

SETTING = {"predictor", "threshold", "chosen", "layer", "tpr", "fpr", "case", "memorized", "targets", "models"}
SETTING |= {"drop", "least_drop", "most_drop"}
RATE = {"estimate", "low", "high"}
MEND = "give the records as a Parquet file, the states as a .npy file of one array"
SURE = 1.96  # standard errors
PAGE = """\
# Records at risk of being memorized
{records:,} training records, ranked by {predictor}; {flagged:,} are flagged: their score is {threshold:g} or more, the
recommended threshold ({chosen}). {near:,} stand within {sure} Monte-Carlo standard errors of it ({directions:,} random
directions): another draw could move them across.

Where the truth was measured ({case}, {targets} targets, LiRA with {models} models), such a flag found {found} of
{positives:,} records that were memorized in the end, and named {named} of {negatives:,} that were not; a record counts
once for each target that was trained on it. Memorized were {memorized[estimate]:.1%} there, where chance lets
{memorized[null]:.1%} pass. Brackets hold 95 % intervals. Those were other data and other models than yours; the rates
hold as far as yours are like them, at a checkpoint where the median training loss has fallen by {drop:.1%}
({least_drop:.1%} to {most_drop:.1%} there), with hidden states of the {layer} layer. A flag is no proof: LiRA measures
what a model has memorized.

{table}
Higher scores mean more risk. psmi: minus the pointwise sliced mutual information, in nats, with its standard error;
loss: in nats; logit_gap: the largest other logit less the label's; mahalanobis: the distance from all other records, in
{dimensions} principal components. The first {shown} of the list are shown.
"""


def main(job):
    os.umask(0o077)  # a user's table: for its owner alone
    params, path = job.params, job.input.records
    setting = read_setting(job.input.results)
    records, states = read_records(path, job.input.get("states"))
    scores, psmi, dimensions = predictors(
        states,
        records["label"].astype(str).to_numpy(),
        seeds.generator(params.seed, "predict", "own", "psmi"),
        losses=records.get("loss"),
        logits=stacked(records["logits"], path) if "logits" in records else None,
        classes=[str(name) for name in params.classes or []],
        directions=params.directions,
        accuracy=params.accuracy,
        dimensions=params.dimensions,
    )
    if setting["predictor"] not in scores:
        raise AuditError(
            f"{job.input.results}: recommends {setting['predictor']}, and {path} has no such column; add it"
        )
    ranked = rank(records["id"], scores, psmi.error, setting)
    write_table(ranked, job.output.ranked)
    page = describe(ranked, setting, {"directions": psmi.directions, "dimensions": dimensions})
    for file, text in ((job.output.csv, ranked.to_csv(index=False, lineterminator="\n")), (job.output.page, page)):
        with replacing(file) as temporary:
            temporary.write_text(text, encoding="utf-8")
    Path(job.output.page).parent.chmod(0o700)  # Snakemake made it, for all to read
    return {"seed": params.seed}


def read_setting(path: str) -> dict:
    """What is recommended to practitioners, as measured (`studies.predict.ground_truth.Setting.facts`)."""
    known = read_json(path)
    found = [one for one in known if one.get("profile") == "practitioners"] if isinstance(known, list) else []
    if len(found) != 1 or not found[0].keys() >= SETTING:
        raise AuditError(f"{path}: holds no recommended setting for practitioners; give the results of study predict")
    rates = [found[0][name] for name in ("tpr", "fpr", "memorized")]
    if not all(isinstance(rate, dict) and rate.keys() >= RATE for rate in rates):
        raise AuditError(f"{path}: holds error rates without their intervals; give the results of study predict")
    if not found[0]["tpr"]["n"]:
        raise AuditError(f"{path}: no record was memorized there, so no error rate is known; choose another `own/case`")
    if not rates[2]["low"] > rates[2]["null"]:
        raise AuditError(
            f"{path}: no more was memorized there than by chance, so no error rate is known; choose another `own/case`"
        )
    return found[0]


def read_records(path: str, states: str | None) -> tuple[pd.DataFrame, np.ndarray]:
    """The records' table, and their hidden states (record, feature)."""
    table, needed = read_table(path, mend=MEND), ["id", "label"] if states else ["id", "label", "hidden"]
    if missing := [name for name in needed if name not in table]:
        raise AuditError(f"{path}: has no column {missing[0]!r}; it needs id, label, and hidden or a file of states")
    if (gone := table.filter([*needed, "loss", "logits"]).isna().any(axis=1)).any():
        raise AuditError(
            f"{path}: row {int(np.argmax(gone))} has no value in a column that is used; complete or drop it"
        )
    if (twice := table["id"].duplicated()).any():
        raise AuditError(
            f"{path}: the id of row {int(np.argmax(twice))} stands there before; give every record its own"
        )
    if "loss" in table and not pd.api.types.is_numeric_dtype(table["loss"]):
        raise AuditError(f"{path}: column loss holds no numbers; give -log p of each record's label")
    if not states:
        return table, stacked(table["hidden"], path)
    with readable(states, MEND):
        loaded = np.load(states, mmap_mode="r", allow_pickle=False)
    if not isinstance(loaded, np.ndarray):
        raise AuditError(f"{states}: holds several arrays; {MEND}")
    return table, loaded


def stacked(lists: pd.Series, path: str) -> np.ndarray:
    """Lists of a column as (record, number)."""
    shapes = {np.shape(one) for one in lists}
    numbers = np.stack(lists.to_list()) if len(shapes) == 1 else np.empty(0)
    if numbers.ndim != 2 or numbers.dtype.kind not in "fiu":
        raise AuditError(f"{path}: column {lists.name} must hold lists of numbers, all of one length; mend the export")
    return numbers


def rank(ids: pd.Series, scores: dict, error: np.ndarray, setting: dict) -> pd.DataFrame:
    """The records by falling score. near_threshold: another draw of PSMI's directions could change the flag."""
    own, threshold = scores[setting["predictor"]], setting["threshold"]
    near = (np.abs(own - threshold) < SURE * error) & (setting["predictor"] == "psmi")
    table = pd.DataFrame(
        {"id": ids.to_numpy(), "flagged": own >= threshold, "near_threshold": near}
        | {"psmi": scores["psmi"], "psmi_error": error}
        | scores
    )
    ranked = table.iloc[np.argsort(-own, kind="stable")].reset_index(drop=True)
    ranked.insert(0, "rank", np.arange(1, len(ranked) + 1))
    return ranked


def describe(ranked: pd.DataFrame, setting: dict, counts: dict, shown: int = 20) -> str:
    """The page: what was flagged, how far to trust that, and the first records of the list."""
    top = ranked.head(shown)
    lines = [[result_tables.cell(value) for value in line] for line in top.itertuples(index=False)]
    table = result_tables.markdown(list(top), lines, [pd.api.types.is_numeric_dtype(kind) for kind in top.dtypes])
    rates = ["{estimate:.0%} [{low:.0%}, {high:.0%}]".format(**setting[name]) for name in ("tpr", "fpr")]
    facts = {"records": len(ranked), "flagged": ranked["flagged"].sum(), "near": ranked["near_threshold"].sum()}
    facts |= {"positives": setting["tpr"]["n"], "negatives": setting["fpr"]["n"], "found": rates[0], "named": rates[1]}
    return PAGE.format(**setting | facts | counts, sure=SURE, table=table, shown=len(top))


if __name__ == "__main__":
    run(main, globals())
