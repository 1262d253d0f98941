"""Verdicts on texts of one's own from their scores, and what these verdicts may be taken for."""

import math
from collections.abc import Iterator

import numpy as np
import pandas as pd

from memaudit.attacks.feature_range import usual_share
from memaudit.common.arrays import Array
from memaudit.common.errors import AuditError
from memaudit.statistics.conformal_p_values import conformal_p_values, fewest_detections
from memaudit.statistics.permutation_tests import q_value
from memaudit.studies.ltmia.target_combinations import error_rates
from memaudit.studies.ltmia.transfer_bootstrap import COMBINATION

MOST_UNUSUAL = 0.5  # share of texts with unusual features above which a run is refused


def verdicts(scores: Array, known: Array, outside: Array, held_out: pd.DataFrame, rate: float | None) -> pd.DataFrame:
    """Verdicts on texts, a row each: score, rank, p-value and detection where there are known non-members, error rates.

    scores: (text,); known: scores of known non-members, possibly none, and then there is neither p-value nor detection;
    outside: (text,) share of features outside the range of the classifier's training; held_out: score and outside of
    the texts that `error_rates` are measured on: a text that is further outside than 99 % of them is unusual and has no
    rates; rate: false discovery rate of `detected`, or None.
    """
    table = pd.DataFrame({"score": scores, "rank": 1 + len(scores) - np.searchsorted(np.sort(scores), scores, "right")})
    if len(known):
        table["p_value"] = conformal_p_values(scores, known)
        if rate is not None:
            table["detected"] = q_value(table["p_value"].to_numpy()) <= rate
    table["outside_range"], table["unusual"] = outside, outside > usual_share(held_out["outside"].to_numpy())
    rates = error_rates(scores, held_out)
    rates[table["unusual"]] = np.nan
    return table.join(rates)


def check_range(unusual: Array, target: str) -> None:
    """Raise AuditError if most texts (text,) are unusual: nobody has measured what their scores say."""
    share = np.mean(unusual)
    if share > MOST_UNUSUAL:
        raise AuditError(
            f"{target}: {share:.0%} of the texts have features further outside the range of the classifier's training"
            " than the texts it was tested on; name models and corpora like yours in ltmia/training and ltmia/held_out"
        )


def statements(table: pd.DataFrame, known: int, held_out: pd.DataFrame, rate: float | None) -> Iterator[str]:
    """Sentences for the reader of `verdicts`; known: number of known non-members."""
    texts = len(table)
    if not known:
        yield (
            "No known non-members were given, so there is no p-value and no verdict: a score orders the texts and says"
            " nothing by itself. Give texts that the target was certainly not fine-tuned on, drawn like the others, as"
            " ltmia/attack/nonmembers; n of them give p-values down to 1 / (1 + n)."
        )
    else:
        yield (
            f"{known} known non-members: the smallest possible p-value is {1 / (1 + known):.3g}. P-values hold if texts"
            " that were not fine-tuned on are like the known non-members in source, time and length."
        )
    if "detected" in table:
        fewest = fewest_detections(texts, known, rate)
        possible = f"{fewest} of {texts} texts must have the smallest p-value before any is detected"
        if fewest > texts:
            possible = f"none can be: that takes at least {math.ceil(1 / rate) - 1} known non-members"
        yield (
            f"{table['detected'].sum()} of {texts} texts are detected, at a false discovery rate of {rate:g} (Benjamini"
            f" and Hochberg): {possible}."
        )
    names = {key: ", ".join(dict.fromkeys(held_out[key])) for key in COMBINATION[:2]}
    yield (
        f"{table['unusual'].sum()} of {texts} texts have unusual features, further outside the classifier's training"
        " range than texts that it was tested on; they have no error rates. False and true positive rates were"
        f" measured on the corpora {names['dataset']} with the models {names['model']}: they hold for corpora and"
        " models like those, and for no others."
    )
