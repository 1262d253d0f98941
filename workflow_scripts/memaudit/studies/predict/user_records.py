"""A user's training records, their hidden states, and the recommended setting that ranks them, read and checked.

Only NumPy, pandas and pyarrow are needed: no model and no deep-learning framework.
"""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from memaudit.attacks import memorization_features, memorization_predictors
from memaudit.attacks.learned_memorization import Combination
from memaudit.common.arrays import Array
from memaudit.common.errors import AuditError
from memaudit.common.io import read_json, read_table, readable

SETTING = {"predictor", "threshold", "chosen", "layer", "tpr", "fpr", "case", "memorized", "targets", "models"}
SETTING |= {"drop", "least_drop", "most_drop"}
PRACTITIONERS = "practitioners"  # profile of PSMI; a learned predictor's profile is its name
RATE = {"estimate", "low", "high"}
REMEDY = "give the records as a Parquet file, the states as a .npy file of one array"
TOLERANCE = 0.03  # of a median loss's fall, as `predict/tolerance`
STANDARD_ERRORS = 1.96  # of PSMI, within which a flag is uncertain


def read_setting(path: str, predictor: str = "psmi") -> dict[str, Any]:
    """The measured setting of a predictor: of psmi that for practitioners (`recommended_thresholds.Recommendation`), of
    a learned one that of `learned_evaluation.LearnedEvaluation.recommended`.

    Raises AuditError where it or one of its error rates is missing, and where nothing was memorized beyond chance.
    """
    known, profile = read_json(path), PRACTITIONERS if predictor == "psmi" else predictor
    settings = [one for one in known if one.get("profile") == profile] if isinstance(known, list) else []
    if len(settings) != 1 or not settings[0].keys() >= SETTING:
        raise AuditError(f"{path}: holds no recommended setting for {profile}; give the results of study predict")
    rates = [settings[0][name] for name in ("tpr", "fpr", "memorized")]
    if not all(isinstance(rate, dict) and rate.keys() >= RATE for rate in rates):
        raise AuditError(f"{path}: holds error rates without their intervals; give the results of study predict")
    if not settings[0]["tpr"]["n"]:
        raise AuditError(f"{path}: no record was memorized there, so no error rate is known; choose another `own/case`")
    if not rates[2].get("beyond_chance", rates[2]["low"] - rates[2]["null"]) > 0:
        raise AuditError(
            f"{path}: no more was memorized there than by chance, so no error rate is known; choose another `own/case`"
        )
    return settings[0]


def read_records(path: str, states: str | None) -> tuple[pd.DataFrame, NDArray[Any]]:
    """The records' table, and their hidden states (record, feature).

    Raises AuditError for missing columns and values, repeated ids, losses that are no numbers, and several arrays.
    """
    table, needed = read_table(path, remedy=REMEDY), ["id", "label"] if states else ["id", "label", "hidden"]
    if missing := [name for name in needed if name not in table]:
        raise AuditError(f"{path}: has no column {missing[0]!r}; it needs id, label, and hidden or a file of states")
    used = table.filter([*needed, "loss", "loss_before", "logits", "losses", "gaps"])
    if (incomplete := used.isna().any(axis=1)).any():
        raise AuditError(
            f"{path}: row {int(np.argmax(incomplete))} has no value in a column that is used; complete or drop it"
        )
    if (repeated := table["id"].duplicated()).any():
        raise AuditError(
            f"{path}: the id of row {int(np.argmax(repeated))} occurs in an earlier row; give every record its own"
        )
    for name in table.columns.intersection(["loss", "loss_before"]):
        if not pd.api.types.is_numeric_dtype(table[name]):
            raise AuditError(f"{path}: column {name} holds no numbers; give -log p of each record's label")
    if not states:
        return table, stacked(table["hidden"], path)
    with readable(states, REMEDY):
        loaded = np.load(states, mmap_mode="r", allow_pickle=False)
    if not isinstance(loaded, np.ndarray):
        raise AuditError(f"{states}: holds several arrays; {REMEDY}")
    return table, loaded


def timing(records: pd.DataFrame, losses: Array | None, path: str, setting: dict[str, Any]) -> str:
    """Sentence about how far the median loss has fallen since `loss_before`, against the study's targets.

    losses: (record,) as predictors have them, from the column `loss`, `logits` or `losses`; None without these.

    Raises AuditError where it has fallen by 3 points less than that of any target: hidden states say too little yet.
    """
    if losses is None or "loss_before" not in records:
        return "Whether yours has was not checked: give columns loss and loss_before."
    before = records["loss_before"].median()
    if not before > 0:
        raise AuditError(f"{path}: the median of loss_before is {before:g}; give the losses of the untrained model")
    drop = float(1 - np.median(losses) / before)
    if drop < setting["least_drop"] - TOLERANCE:
        raise AuditError(
            f"{path}: the median loss has fallen by {drop:.1%} since loss_before, the study's by"
            f" {setting['least_drop']:.1%} or more; train on, and export the states of a later checkpoint"
        )
    late = drop > setting["most_drop"]
    return f"Yours has fallen by {drop:.1%}{': later than in the study, so that some are memorized already' * late}."


def of_checkpoints(records: pd.DataFrame, path: str) -> dict[str, Array]:
    """Predictors from a user's columns `losses` and `gaps`, lists over checkpoints, by name (record,); {} without both.

    Those of one query come from the last checkpoint, where there is no column `loss` or `logits` of their own.
    """
    if not {"losses", "gaps"} <= set(records):
        return {}
    losses, gaps = (stacked(records[name], path).T.astype(np.float64) for name in ("losses", "gaps"))
    if losses.shape != gaps.shape:
        raise AuditError(f"{path}: {len(losses)} losses and {len(gaps)} gaps of a record; give both at each checkpoint")
    checked = [memorization_predictors.from_loss(one, len(records)) for one in losses]
    earlier = memorization_features.of_checkpoints(np.array(checked), gaps)
    return {"loss": losses[-1], "logit_gap": -gaps[-1]} | earlier


def learned_scores(
    setting: dict[str, Any], path: str, states: NDArray[Any], labels: NDArray[Any], scores: dict[str, Array]
) -> dict[str, Array]:
    """Scores of a learned predictor and of all others, by name, (record,).

    setting: of `read_setting`, from path; scores: by `memorization_predictors.predictors` and `of_checkpoints`. Raises
    AuditError naming a column that is missing.
    """
    codes = np.unique(labels, return_inverse=True)[1]
    found = dict(scores) | memorization_features.neighbour_scores(states, codes)._asdict()
    if "loss" in scores:
        found["gradient_norm"] = memorization_features.head_gradient_norm(scores["loss"], states)
    return {setting["predictor"]: Combination.read(setting, path).scores(found)} | found


def stacked(lists: pd.Series, path: str) -> NDArray[Any]:
    """Lists of a column as an array (record, number). Raises AuditError unless they are numbers of one length."""
    shapes = {np.shape(one) for one in lists}
    numbers = np.stack(lists.to_list()) if len(shapes) == 1 else np.empty(0)
    if numbers.ndim != 2 or numbers.dtype.kind not in "fiu":
        raise AuditError(f"{path}: column {lists.name} must hold lists of numbers, all of one length; fix the export")
    return numbers


def ranked_records(ids: pd.Series, scores: dict[str, Array], error: Array, setting: dict[str, Any]) -> pd.DataFrame:
    """The records by descending score; near_threshold: another draw of PSMI's directions could change the flag."""
    own, threshold = scores[setting["predictor"]], setting["threshold"]
    near = (np.abs(own - threshold) < STANDARD_ERRORS * error) & (setting["predictor"] == "psmi")
    table = pd.DataFrame(
        {"id": ids.to_numpy(), "flagged": own >= threshold, "near_threshold": near}
        | {setting["predictor"]: own}
        | {"psmi": scores["psmi"], "psmi_error": error}
        | scores
    )
    ranked = table.iloc[np.argsort(-own, kind="stable")].reset_index(drop=True)
    ranked.insert(0, "rank", np.arange(1, len(ranked) + 1))
    return ranked
