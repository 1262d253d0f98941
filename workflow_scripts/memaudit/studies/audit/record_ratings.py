"""Vulnerability of each record of an audited table."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from scipy.special import expit, logit

from memaudit.common import tidy
from memaudit.common.arrays import Array
from memaudit.statistics.attack_performance import SIGNIFICANT
from memaudit.statistics.list_replication import replicated
from memaudit.statistics.posterior_calibration import calibrated_ratios, member_posteriors, reliability
from memaudit.statistics.record_vulnerability import Population
from memaudit.statistics.split_half_agreement import agreement_by_models
from memaudit.studies.audit import audit_attacks

STUDY = "audit"
SPLITS = 50
LISTED = "overlap_listed"  # agreement on as many records as the page lists


def rate(
    members: xr.Dataset,
    located: pd.DataFrame,
    base_rates: Sequence[float],
    rng: np.random.Generator,
    threats: Collection[str],
    scores: Array,
) -> pd.DataFrame:
    """One line for each record, the most vulnerable first.

    Columns: id; `row` of the table; `vulnerability`: the score, an effect size, with its credible interval
    `low` and `high`, which holds for the records at the top, too; `shows`: whether this interval excludes 0;
    `posterior_...`: calibrated posterior membership probability from each base rate; rank. members: score matrix of the
    members; located: columns id and row, of which the first row of an id counts; threats: what the adversary reads;
    scores: (model, record) of the strongest score, behind the posteriors.

    One posterior decides on `shows` and on the interval, and posteriors rise with its mean, so that the three cannot
    contradict each other; a test per record could (with 16 contexts none rejects).
    """
    signals, membership = audit_attacks.signals(members, threats), members.design.values
    population = Population.fit(signals, membership, rng, members.unit.values)
    table = pd.DataFrame({"id": members.record.values}).merge(located.drop_duplicates("id"), on="id", how="left")
    table[["vulnerability", "low", "high"]] = population.intervals(signals, membership)
    table["shows"] = (table["low"] > 0) | (table["high"] < 0)
    ratios = calibrated_ratios(scores, membership, rng)
    posteriors = member_posteriors(ratios, signals, membership, population, base_rates, rng)
    for base_rate, posterior in zip(base_rates, posteriors.T, strict=True):
        table[f"posterior_{base_rate:g}"] = posterior
    table = table.sort_values("vulnerability", ascending=False, kind="stable", ignore_index=True)
    return table.assign(rank=np.arange(1, len(table) + 1))


def calibration_rows(
    members: xr.Dataset, keys: Mapping[str, Any], rng: np.random.Generator, threats: Collection[str], scores: Array
) -> Iterator[dict[str, Any]]:
    """Tidy rows of the posteriors' calibration: predicted probability and share of members by bin, and their distance.

    Key `posterior`: "lira" of LiRA's log-likelihood ratios as they are, "calibrated" of the published ones, made of the
    strongest score (`scores`, as for `rate`) and cross-fitted over contexts. Base rate: that of the membership matrix.
    """
    case = audit_attacks.on_members(members, "main", threats)
    prior = logit(case.membership.mean())
    published = calibrated_ratios(scores, case.membership, rng)
    for name, ratios in {"lira": case.scores(), "calibrated": published}.items():
        found = reliability(expit(ratios + prior), case.membership)
        of_kind = {**keys, "posterior": name}
        yield tidy.row(STUDY, of_kind, "calibration error", found.error, unit="probability", n=scores.size)
        for number, (predicted, share, entries) in enumerate(
            zip(found.predicted, found.members, found.entries, strict=True), 1
        ):
            of_bin = {**of_kind, "bin": number}
            yield tidy.row(STUDY, of_bin, "predicted probability", predicted, unit="probability", n=int(entries))
            yield tidy.row(STUDY, of_bin, "share of members", share, unit="probability", n=int(entries))


def agreement_rows(
    members: xr.Dataset, keys: Mapping[str, Any], shown: int, rng: np.random.Generator, threats: Collection[str]
) -> Iterator[dict[str, Any]]:
    """Tidy rows of the agreement between two halves of the shadow contexts on the most vulnerable records.

    One record of each unit is ranked: records of one person are similar, so that they agree by chance, too. shown:
    records that the page lists; threats: what the adversary reads.
    """
    members = members.isel(record=np.unique(members.unit.values, return_index=True)[1])
    signals, membership = audit_attacks.signals(members, threats), members.design.values
    # A list of all records agrees with any other.
    lists, models = {LISTED: min(shown, len(signals.T) - 1)}, len(membership)
    population = Population.fit(signals, membership, rng)
    facts = {"n": membership.size, "method": f"{SPLITS} random halves, 95 % of them; null: independent rankings"}
    for one in agreement_by_models(signals, membership, [models], rng, SPLITS, lists, population):
        of = {**keys, "models": models}
        yield tidy.row(STUDY, of, one.metric, one.estimate, low=one.low, high=one.high, null=one.null, **facts)
        if one.metric != LISTED:
            yield tidy.row(STUDY, of, f"{one.metric} extrapolated", one.whole, null=one.null, **facts)
            continue
        yield tidy.row(STUDY, of, f"{LISTED} p-value", one.p_value, unit="probability", **facts)
        detected = one.p_value <= SIGNIFICANT
        yield tidy.row(STUDY, of, f"{LISTED} detected", detected, unit="yes or no", **facts)
        again = replicated(population, signals, membership, lists, rng)[LISTED]
        noted = facts | {"low": again.low, "method": "drawn from the posterior of all records"}
        yield tidy.row(STUDY, of, f"{LISTED} extrapolated", again.mean, null=one.null, **noted)
