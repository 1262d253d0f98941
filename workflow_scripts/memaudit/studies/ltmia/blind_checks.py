"""Whether the words of the texts alone predict the membership of each target, and which targets are unfit for that."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from memaudit.attacks.blind_texts import blind_weights
from memaudit.common import seeds, tidy
from memaudit.statistics.membership_redraws import LEVEL, RedrawnAuc, blind_aucs, draws_for, mean_auc
from memaudit.statistics.mitigation_verdicts import holm
from memaudit.studies.ltmia.transfer_bootstrap import COMBINATION, STUDY

MOST_TEXTS = 4000  # of a corpus that the blind classifier reads

Combination = tuple[str, str, str]


def blind_checks(scores: pd.DataFrame, texts: pd.DataFrame, seed: int) -> dict[Combination, RedrawnAuc]:
    """The blind AUC of every target's own membership, by model, dataset and tuning.

    scores: a row for each text of each target, columns model, dataset, tuning, id, member; texts: dataset, id, text.
    """
    found = {}
    targets = len(scores[COMBINATION].drop_duplicates())
    contents = texts.set_index(["dataset", "id"])["text"]
    for dataset, of_corpus in scores.groupby("dataset", sort=False):
        own = {name: one.sort_values("id") for name, one in of_corpus.groupby(COMBINATION, sort=False)}
        ids = next(iter(own.values()))["id"]
        rng = seeds.generator(seed, STUDY, dataset, "blind")
        places = np.sort(rng.permutation(len(ids))[:MOST_TEXTS])
        weights = blind_weights(contents[dataset].loc[ids.iloc[places]].tolist(), rng)
        members = np.array([one["member"].to_numpy(dtype=bool) for one in own.values()])
        found |= dict(zip(own, blind_aucs(weights, places, members, targets, rng), strict=True))
    return found


def adjusted(checks: Mapping[Combination, RedrawnAuc]) -> dict[Combination, float]:
    """p-values of all targets with Holm's correction; a target is unfit where its own is at most LEVEL."""
    numbers = {str(number): one.p_value for number, one in enumerate(checks.values())}
    return dict(zip(checks, map(holm(numbers).__getitem__, numbers), strict=True))


def unfit(checks: Mapping[Combination, RedrawnAuc]) -> list[Combination]:
    """Targets whose membership the blind classifier predicts, as members or in reverse."""
    return [name for name, p in adjusted(checks).items() if p <= LEVEL]


def blind_rows(checks: Mapping[Combination, RedrawnAuc]) -> list[dict[str, Any]]:
    """Tidy rows of every target's check, and of each corpus's: mean AUC, unfit targets, the AUC that would be found."""
    rows, p_values, draws = [], adjusted(checks), draws_for(len(checks))
    for name, one in checks.items():
        keys = {"source": "here"} | dict(zip(COMBINATION, name, strict=True))
        ends = {"low": one.low, "high": one.high, "null": one.null, "n": one.texts}
        rows.append(tidy.row(STUDY, keys, "blind auc", one.auc, method=f"{draws} permuted memberships", **ends))
        method = f"two-sided, Holm over {len(checks)} targets"
        rows.append(
            tidy.row(STUDY, keys, "blind p-value", p_values[name], unit="probability", n=one.texts, method=method)
        )
        rows.append(tidy.row(STUDY, keys, "fit for attacks", p_values[name] > LEVEL, unit="yes or no", n=one.texts))
    for dataset in dict.fromkeys(dataset for _, dataset, _ in checks):
        of_corpus = {name: one for name, one in checks.items() if name[1] == dataset}
        keys, every = {"source": "here", "dataset": dataset}, list(of_corpus.values())
        mean, low, high = mean_auc(every)
        ends = {"low": low, "high": high, "null": every[0].null, "n": every[0].texts}
        rows.append(tidy.row(STUDY, keys, "mean blind auc", mean, method=f"mean of {len(every)} targets", **ends))
        rows.append(tidy.row(STUDY, keys, "detectable blind auc", every[0].detectable, n=every[0].texts))
        count = sum(p_values[name] <= LEVEL for name in of_corpus)
        rows.append(tidy.row(STUDY, keys, "unfit targets", count, unit="targets", n=len(every)))
    return rows
