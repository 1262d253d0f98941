"""Attribute inference and linking of an audit's summary, looked up in tidy results; no number is computed here."""

from collections.abc import Mapping

import pandas as pd

from memaudit.auditing.summaries.inference_parts import Inference, InferredQuestion, Inferring
from memaudit.auditing.summaries.summarize_results import value
from memaudit.common import tidy

METRICS = {
    "members": "members", "nonmembers": "non-members", "without_model": "without model", "gain": "gain",
    "excess": "accuracy excess", "probability": "probability excess",
}  # fmt: skip


def _inferring(who: str, rows: pd.DataFrame, halves: float | None) -> Inferring:
    """One adversary's numbers; halves: how many are to choose from, where the right one stands at a random place."""
    found = {key: value(rows, metric) for key, metric in METRICS.items()}
    if halves is not None:
        guess = {"null": 1 / halves}
        found |= {key: found[key].model_copy(update=guess) for key in ("members", "nonmembers", "without_model")}
    looked_up = (value(rows, f"lookup {METRICS[key]}") for key in ("excess", "probability"))
    return Inferring(adversary=who, **found, lookup_found=any(one.detected for one in looked_up))


def inference(results: pd.DataFrame, called: Mapping[str, str]) -> Inference:
    """What was inferred and linked; called: the user's names of columns, by safe name."""
    table = tidy.expand(results)
    found = table[table["planted"] == "innocent"].set_index("metric")
    asked = table[table["question"].notna()]
    questions = [
        InferredQuestion(
            column=called.get(name),
            answers=int(value(rows, "answers").estimate),
            targets=int(rows.loc[rows["metric"] == "answers", "n"].iloc[0]),
            adversaries=[
                _inferring(str(who), part, None if name in called else value(rows, "answers").estimate)
                for who, part in rows[rows["adversary"].notna()].groupby("adversary", sort=False)
            ],
            lookup=value(rows[rows["adversary"] == "calibrated"], "lookup accuracy excess"),
        )
        for name, rows in asked.groupby("question", sort=False)
    ]
    entries = int(asked.loc[asked["metric"] == "accuracy excess", "n"].iloc[0])
    return Inference(
        questions=questions,
        contexts=entries // questions[0].targets,
        innocents=int(found.loc["found", "n"]),
        innocents_found=int(found.loc["found", "estimate"]),
        innocent_failed=bool(found.loc["check failed", "estimate"]),
    )
