"""Attacks on targets whose fine-tuning does not depend on the membership: each AUC must be one half."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from memaudit.common import seeds, tidy
from memaudit.statistics.membership_redraws import draws_for, null_aucs
from memaudit.statistics.mitigation_verdicts import holm
from memaudit.studies.ltmia.transfer_bootstrap import COMBINATION, STUDY, is_combination

# Ways of tuning that give every text the same chance to be in the training, members or not.
NULL_WAYS = ("untrained", "other texts", "other members")

Combinations = Sequence[Sequence[str]]


def null_controls(controls: Mapping[str, Combinations], ways: Mapping[str, str]) -> dict[str, Combinations]:
    """Those of the controls that are nulls; ways: of tunings."""
    return {
        name: combinations
        for name, combinations in controls.items()
        if all(ways[tuning] in NULL_WAYS for _, _, tuning in combinations)
    }


def null_rows(
    scores: pd.DataFrame, attacks: Sequence[str], nulls: Mapping[str, Combinations], seed: int
) -> list[dict[str, Any]]:
    """Tidy rows of every attack on every null: mean AUC, p-value, and the AUC that would have been found.

    scores: a row for each text of each combination, with columns model, dataset, tuning, id, member and the attacks;
    nulls: their combinations. The p-values have Holm's correction over all attacks and nulls.
    """
    found, tests = {}, len(nulls) * len(attacks)
    for name, combinations in nulls.items():
        own = scores[is_combination(scores, combinations)].sort_values("id")
        parts = [part for _, part in own.groupby(COMBINATION)]
        values = [part[list(attacks)].to_numpy(dtype=float).T for part in parts]
        members = [part["member"].to_numpy(dtype=bool) for part in parts]
        rng = seeds.generator(seed, STUDY, name, "null")
        found |= {
            (name, attack): one for attack, one in zip(attacks, null_aucs(values, members, tests, rng), strict=True)
        }
    adjusted = holm({str(place): one.p_value for place, one in enumerate(found.values())})
    method, rows = f"{draws_for(tests)} memberships drawn again", []
    for place, ((name, attack), one) in enumerate(found.items()):
        keys = {"source": "here", "control": name, "attack": attack}
        ends = {"low": one.low, "high": one.high, "null": 0.5, "n": one.texts}
        rows.append(tidy.row(STUDY, keys, "null auc", one.auc, method=method, **ends))
        points = {"null p-value": adjusted[str(place)], "detectable auc": one.detectable}
        for metric, value in points.items():
            if not np.isnan(value):
                corrected = {"n": one.texts, "method": f"two-sided, Holm over {tests} tests"}
                rows.append(tidy.row(STUDY, keys, metric, value, low=value, high=value, **corrected))
    return rows
