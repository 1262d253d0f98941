"""Vulnerability of each record of an audited table."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import xarray as xr

from memaudit.statistics import rank_tests, record_vulnerability, threat_models
from memaudit.statistics.accusation_precision import beliefs
from memaudit.statistics.audit_cases import lira_on_members


def rate(
    members: xr.Dataset, located: pd.DataFrame, base_rates: Sequence[float], replicates: int, rng: np.random.Generator
) -> pd.DataFrame:
    """One line for each record, the most vulnerable first.

    Columns: id; `row` of the table; `exposure`: the vulnerability score (an effect size) with its interval `low` and
    `high`; `shows`: whether membership is detectable; `belief_...`: posterior membership probability from each base
    rate; rank. members: score matrix of the members; located: columns id and row, of which the first row of an id
    counts; replicates: of the bootstrap.
    """
    case = threat_models.Case({}, *lira_on_members(members))
    signals, membership = case.attack.signals, case.design
    scores = case.scores()
    table = pd.DataFrame({"id": members.record.values}).merge(located.drop_duplicates("id"), on="id", how="left")
    table[["exposure", "low", "high"]] = record_vulnerability.vulnerability_score_cohens_d(
        signals, membership, rng, replicates
    )
    table["shows"] = rank_tests.detected_records(signals, membership)
    for base_rate in base_rates:
        table[f"belief_{base_rate:g}"] = beliefs(scores, membership, base_rate)
    table = table.sort_values("exposure", ascending=False, kind="stable", ignore_index=True)
    return table.assign(rank=np.arange(1, len(table) + 1))
