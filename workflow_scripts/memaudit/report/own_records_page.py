"""Page of `snakemake predict_own`: a user's records by their risk of being memorized, and the rates of the flag."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from memaudit.plotting import result_tables

PAGE = """\
# Records at risk of being memorized
{records:,} training records, ranked by {predictor}; {flagged:,} are flagged: their score is {threshold:g} or more,
the recommended threshold ({chosen}). {doubt}

In the study ({case}, {targets} targets, ground truth by LiRA with at least {models} models), such a flag had a true
positive rate of {tpr_text} over {positives:,} records that were memorized at the end of training, and a false
positive rate of {fpr_text} over {negatives:,} that were not; a record counts once for each target that was trained on
it. There, {memorized[estimate]:.1%} of the records counted as memorized, and {memorized[null]:.1%} would by chance.
Brackets are {brackets}. The study used other data and models than yours: the rates hold as far as yours are similar,
at a checkpoint where the median training loss has fallen by {drop:.1%} ({least_drop:.1%} to {most_drop:.1%} in the
study), with hidden states of the {layer} layer. {timing} A flag is no proof: LiRA measures what a model has memorized.

{table}
Higher scores mean more risk. {columns}{more}The table lists the first {listed} records.
"""
# Columns of predictors, those that a list may lack among them.
COLUMNS = {
    "psmi": "minus the pointwise sliced mutual information, in nats, with its standard error",
    "loss": "in nats",
    "logit_gap": "the largest other logit minus the label's",
    "mahalanobis": "the distance from all other records, in {dimensions} principal components{alone}",
    "neighbour_disagreement": "share of the nearest records with another label",
    "neighbour_value": "minus the Shapley value among the nearest records",
    "gradient_norm": "of the loss by the head's weights",
    "share_wrong": "share of checkpoints that misclassify the record",
    "forgetting_events": "over checkpoints",
    "mean_loss": "over checkpoints",
}
NEAR = """\
{near:,} lie within {sure} Monte-Carlo standard errors of it ({directions:,}
random directions): another draw of the directions could change their flag."""
ALONE = " (limited for {:,} records that alone spread some hidden unit, as one that is active for no other record)"
RELATIVE = """\
The score is relative to the other
records of the table: it ranks them, and does not tell how many a model memorizes."""
COMBINED = """\
{predictor}: the weighted sum of normal
scores of {features}. """


def describe(ranked: pd.DataFrame, setting: Mapping[str, Any], counts: Mapping[str, Any], listed: int = 20) -> str:
    """The page: number of flags, their measured error rates, and the first records of the list.

    ranked, setting: of `user_records`; counts: directions of PSMI and standard errors that are `sure`, dimensions of
    the Mahalanobis distance and records whose distance is limited (`alone`), and a sentence about the `timing`.
    """
    top, learned = ranked.head(listed), "features" in setting
    lines = [[result_tables.cell(value) for value in line] for line in top.itertuples(index=False)]
    table = result_tables.markdown(list(top), lines, [pd.api.types.is_numeric_dtype(kind) for kind in top.dtypes])
    facts = {"records": len(ranked), "flagged": ranked["flagged"].sum(), "table": table, "listed": len(top)}
    for name, count in (("tpr", "positives"), ("fpr", "negatives")):
        facts[f"{name}_text"] = "{estimate:.0%} [{low:.0%}, {high:.0%}]".format(**setting[name])
        facts[count] = setting[name]["n"]
    facts["brackets"] = setting.get("brackets", "95 % intervals over the targets and records of the study")
    facts["alone"] = ALONE.format(counts["alone"]) if counts["alone"] else ""
    facts["doubt"] = RELATIVE if learned else NEAR.format(**counts, near=ranked["near_threshold"].sum())
    facts["columns"] = _explained(list(ranked), dict(counts) | facts)
    facts["more"] = COMBINED.format(**setting | {"features": ", ".join(setting["features"])}) if learned else ""
    return PAGE.format(**setting | dict(counts) | facts)


def _explained(columns: list[str], facts: Mapping[str, Any]) -> str:
    """A sentence about the predictors among these columns; empty without any."""
    found = [f"{name}: {meaning.format(**facts)}" for name, meaning in COLUMNS.items() if name in columns]
    return f"{'; '.join(found)}. " if found else ""
