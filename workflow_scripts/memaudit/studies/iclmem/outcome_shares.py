"""Shares of runs by outcome, rule, data set and learning rate, beside the shares expected by chance.

ICLMEM, section 5, appendices A.3, A.4 and B, Figures 2, 4, 5 and 6, Table 9. Shares are over runs; their intervals
resample splits with all their runs.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from memaudit.common import seeds, tidy
from memaudit.common.arrays import Array
from memaudit.statistics import bootstrap, histograms, intervals
from memaudit.studies.iclmem.outcome_rules import COLLAPSE, DETECTABLE, OUTCOMES, Rule, flags
from memaudit.studies.iclmem.run_metrics import STUDY
from memaudit.studies.iclmem.setting_summaries import KEYS, keys_of
from memaudit.studies.iclmem.significance_tests import LABELS, Study

Rows = Iterator[dict[str, Any]]

POOLS = {
    "tasks": ["regime", "queries"],  # of classes and of numbers together, as in the paper
    "large rates": ["regime", "queries"],  # the same of the rates at which the paper sees models collapse
    "queries": ["model", "regime", "queries"],
    "epoch": ["model", "regime", "queries", "epoch"],
    "learning rate": ["model", "regime", "queries", "learning_rate"],
    "labels": ["model", "regime", "queries", "labels"],
    "dataset": ["model", "regime", "queries", "dataset"],
}
LARGE_RATE = 0.01
EDGES = np.geomspace(0.1, 1e4, 21)  # of loss ratios


@dataclass(frozen=True)
class SplitBootstrap:
    """Means over runs with 95 % intervals that resample splits, or data sets where settings are counted."""

    replicates: int
    seed: int

    def mean(self, values: Array, runs: pd.DataFrame, share: bool = True) -> dict[str, Any]:
        """Mean of values (run,), one for each line of `runs`. Shares of 0 or 1: Clopper and Pearson's interval."""
        return self._resampled(values, runs, ["dataset", "split"], "splits", share) | {"n": len(runs)}

    def share_of_settings(self, values: Array, runs: pd.DataFrame) -> dict[str, Any]:
        """Share of settings that pass; values (run,) are 0 or 1, the same for all runs of a setting. n: settings.

        A setting weighs as its runs. Settings of a data set share splits, so that data sets are resampled.
        """
        settings = runs.groupby(KEYS).ngroups if len(runs) else 0
        return self._resampled(values, runs, ["dataset"], "data sets", share=True) | {"n": settings}

    def _resampled(
        self, values: Array, runs: pd.DataFrame, unit: list[str], called: str, share: bool
    ) -> dict[str, Any]:
        values, units = np.asarray(values, dtype=np.float64), runs.groupby(unit).ngroup().to_numpy()
        count = len(np.unique(units))
        if share and count and set(values) in ({0.0}, {1.0}):
            ends = intervals.clopper_pearson(count * values[0], count)
            method = f"Clopper-Pearson, as of {count} {called}"
        elif count > 1:
            rng = seeds.generator(self.seed, STUDY, "resampled splits")
            ends = bootstrap.mean_interval(values, self.replicates, rng, units, *((0, 1) if share else ()))
            method = f"bootstrap of {count} {called}, {self.replicates} replicates"
        else:
            ends, method = (np.nan, np.nan), f"{count} {called} have no interval"
        estimate = float(values.mean()) if count else np.nan
        return {"estimate": estimate, "low": ends[0], "high": ends[1], "method": method}


def rules(runs: pd.DataFrame) -> list[str]:
    """Names of the rules that decided the runs' outcomes: the published ones, then the null-calibrated one."""
    return [name.removeprefix("outcome_") for name in runs if name.startswith("outcome_")]


def shares(runs: pd.DataFrame, resampling: SplitBootstrap) -> Rows:
    """Share of every outcome under every rule, for each group of POOLS.

    The paper's label conditions are pooled; by labels, canaries are included too. By epoch only the conditions are
    included that were probed at all epochs: otherwise a trend would reflect the list of conditions. By large rates runs
    at learning rates from `LARGE_RATE` on are.
    """
    for by, names in POOLS.items():
        chosen = runs if by == "labels" else runs[runs["labels"].isin(LABELS)]
        if by == "large rates":
            chosen = chosen[chosen["learning_rate"] >= LARGE_RATE]
        if by == "epoch":
            pools = ["model", "regime", "queries"]
            every = chosen.groupby(pools)["epoch"].transform("nunique")
            chosen = chosen[chosen.groupby([*pools, "dataset", "arm"])["epoch"].transform("nunique") == every]
        for _, group in chosen.groupby(names):
            for rule in rules(runs):
                for outcome in OUTCOMES:
                    named = {**keys_of(group.iloc[0], names), "by": by, "rule": rule, "outcome": outcome}
                    share = resampling.mean(group[f"outcome_{rule}"] == outcome, group)
                    yield tidy.row(STUDY, named, "outcome share", **share)


def dataset_rows(runs: pd.DataFrame, resampling: SplitBootstrap) -> Rows:
    """Facts of each data set, and number and share of its detectable runs beside n/k and Q/n (Table 9)."""
    for dataset, group in runs.groupby("dataset"):
        for fact in ("records", "k", "candidates", "majority", "density", "manipulations"):
            unit = "fraction" if fact == "majority" else "records" if fact == "records" else "number"
            yield tidy.row(STUDY, {"dataset": dataset}, fact, group[fact].iloc[0], unit=unit, method="counted")
    chosen = runs[runs["labels"].isin(LABELS)]
    names = ["model", "regime", "queries"]
    for _, pool in chosen.groupby(names):
        for rule in rules(runs):
            rates = []
            for dataset, group in pool.groupby("dataset"):
                line, hits = group.iloc[0], group[f"outcome_{rule}"] == DETECTABLE
                facts = {name: f"{line[name]:.6g}" for name in ("density", "coverage", "k", "majority")}
                named = {**keys_of(line, names), "dataset": dataset, "rule": rule, **facts}
                yield tidy.row(STUDY, named, "detectable runs", hits.sum(), unit="runs", n=len(hits), method="counted")
                yield tidy.row(STUDY, named, "detectable share", **resampling.mean(hits, group))
                rates.append((hits.mean(), line["density"], line["coverage"], line["k"]))
            yield from _trends(np.array(rates), {**keys_of(pool.iloc[0], names), "rule": rule})


def _trends(rates: Array, keys: Mapping[str, Any]) -> Rows:
    """Rank correlation over data sets of the detectable share with n/k, Q/n and k; rates: (data set, 4).

    No rows for fewer than four data sets, whose interval is [-1, 1], and where all have the same share, n/k, Q/n or k.
    """
    for place, name in enumerate(("density", "coverage", "k"), start=1):
        if len(rates) < 4 or np.ptp(rates[:, 0]) == 0 or np.ptp(rates[:, place]) == 0:
            continue
        correlation = pd.Series(rates[:, 0]).corr(pd.Series(rates[:, place]), method="spearman")
        low, high = intervals.spearman(correlation, len(rates))
        facts = {"n": len(rates), "method": "Fisher's z over data sets (Bonett and Wright 2000)", "unit": "correlation"}
        yield tidy.row(STUDY, keys, f"spearman {name}", correlation, low=low, high=high, null=0.0, **facts)


def loss_ratios(runs: pd.DataFrame) -> Rows:
    """Histogram and median of the ratio of the vanilla loss to the base's, by learning rate (B.1): shares of the runs.

    The outermost bins include what lies beyond, the last one also the runs that diverged. Runs without a ratio, where
    the base's loss is negative, are left out.
    """
    for _, group in runs.groupby(["model", "regime", "learning_rate"]):
        keys = keys_of(group.iloc[0], ["model", "regime", "learning_rate"])
        ratio = group["loss_ratio"].mask(group["diverged"].astype(bool), np.inf).dropna().to_numpy()
        if not len(ratio):
            continue
        facts = {"n": len(ratio), "method": "counted"}
        for share, left, right in zip(histograms.bin_shares(ratio, EDGES), EDGES[:-1], EDGES[1:], strict=True):
            named = {**keys, "left": f"{left:.4g}", "right": f"{right:.4g}"}
            yield tidy.row(STUDY, named, "loss ratio share", share, **facts)
        yield tidy.row(STUDY, keys, "median loss ratio", np.median(ratio), unit="ratio", null=1.0, **facts)


def flagged(study: Study, rule: Rule, resampling: SplitBootstrap) -> Rows:
    """Runs flagged by raw and by calibrated TPRs among those that did not collapse (A.4), with the permutation null.

    Key `records`: query, or permuted for the same runs under permuted memberships.
    """
    intact = study.runs[study.runs["outcome_" + rules(study.runs)[0]] != COLLAPSE]
    for _, group in intact.groupby(["model", "regime"]):
        keys = keys_of(group.iloc[0], ["model", "regime"])
        null = study.null.isel(run=group.index.to_numpy())
        permuted = flags(null.permuted_raw.values, null.permuted_reference.values, rule)
        for name, by_permutation in zip(("raw", "calibrated"), permuted, strict=True):
            query, hits = {**keys, "records": "query"}, group[f"{name}_flag"]
            yield tidy.row(STUDY, query, f"{name} flags", hits.sum(), unit="runs", n=len(hits), method="counted")
            chance = resampling.mean(by_permutation.mean(axis=1), group)
            yield tidy.row(STUDY, query, f"{name} flag share", **resampling.mean(hits, group), null=chance["estimate"])
            yield tidy.row(STUDY, {**keys, "records": "permuted"}, f"{name} flag share", **chance)
        raw = group["raw_flag"].astype(float)
        gaps = {"calibrated - raw": group["calibrated_flag"] - raw, "raw - permuted": raw - permuted[0].mean(axis=1)}
        for between, gap in gaps.items():
            mean = resampling.mean(gap, group, share=False)
            named = {**keys, "records": "query", "between": between}
            yield tidy.row(STUDY, named, "flag share difference", **mean, null=0.0)
