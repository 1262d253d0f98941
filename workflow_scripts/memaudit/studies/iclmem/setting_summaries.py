"""Tidy results of a setting, i.e. a data set, a fine-tuning condition (`arm`) and an epoch, over its splits.

The split is the unit of replication: estimates are means over splits, intervals Student's t over them, and the standard
deviation between splits is reported beside.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from memaudit.common import tidy
from memaudit.common.arrays import Array
from memaudit.statistics import bootstrap, histograms, intervals
from memaudit.statistics.attack_performance import interpolated
from memaudit.statistics.detection_power import POWER_OF_MEANS, smallest_mean_excess
from memaudit.studies.iclmem.outcome_rules import LEVEL, OUTCOMES, Rule, collapsed, flags, outcomes, published
from memaudit.studies.iclmem.run_metrics import GROUPS, LARGER, SIGNALS, STUDY

Rows = Iterator[dict[str, Any]]

KEYS = ["dataset", "arm", "model", "regime", "labels", "learning_rate", "queries", "context", "epoch"]
NULL_CALIBRATED = "null_calibrated"
NEGATIVE_CONTROL = "placebo"  # in configs and regimes: fine-tuned on other records than those that are attacked
POSITIVE_CONTROL = "positive"  # in configs and regimes: every signal is expected to see members
NOT_COMPARED = ("labels", "epochs", "datasets", "against", "control")
SPREAD = " deviation between splits"


def describe(condition: Mapping[str, Any]) -> dict[str, Any]:
    """Columns of a condition's runs; `settings`: all settings that matched conditions with other labels share."""
    named = {"adapter": "lora", "private": "private", "label_smoothing": "smoothed", "copies": "copies"}
    named |= {NEGATIVE_CONTROL: NEGATIVE_CONTROL, "control": POSITIVE_CONTROL}
    kinds = [name for key, name in named.items() if condition[key]]
    common = {key: value for key, value in condition.items() if key not in NOT_COMPARED}
    return {
        "model": condition["model"],
        "regime": " ".join(["joint" if condition["joint"] else "single", condition["pairs"], *kinds]),
        **{key: condition[key] for key in ("labels", "learning_rate", "queries")},
        "copies": condition["copies"] or 1,
        "against": condition["against"],
        "context": "all" if condition["context"] is None else str(condition["context"]),
        "settings": json.dumps(common, sort_keys=True),
    }


def apply_rules(runs: pd.DataFrame, rules: Mapping[str, Mapping[str, float]]) -> pd.DataFrame:
    """Runs with their loss ratio, flags, and outcome under each rule: outcome_RULE.

    rules: thresholds by name. The null-calibrated rule is the first of them with another criterion: p <= .05 of the
    larger AUC, under permutations whose larger AUC is taken too.
    """
    known = {name: Rule(**thresholds) for name, thresholds in rules.items()}
    first = next(iter(known.values()))
    columns = {f"outcome_{name}": outcomes(runs, rule, published(runs, rule)) for name, rule in known.items()}
    columns[f"outcome_{NULL_CALIBRATED}"] = outcomes(runs, first, (runs["larger_p"] <= LEVEL).to_numpy())
    flagged = flags(runs["raw_tpr"].to_numpy(), runs["reference_tpr"].to_numpy(), first)
    columns["raw_flag"], columns["calibrated_flag"] = (hits & ~collapsed(runs, first) for hits in flagged)
    ratio = (runs["loss"] / runs["base_loss"]).where(runs["base_loss"] > 0)
    return runs.assign(loss_ratio=ratio, **columns)


def keys_of(line: Mapping[str, Any], names: Sequence[str] = KEYS) -> dict[str, str]:
    """Keys of a tidy row from a line of a table; numbers in their shortest form."""
    return {name: f"{line[name]:g}" if isinstance(line[name], float) else str(line[name]) for name in names}


def summary(values: Array, least: float = -np.inf, most: float = np.inf) -> dict[str, Any]:
    """Mean over the splits that have a value, with its `t_interval`; a single split has no interval.

    least, most: range of the quantity, to which the interval is clipped.
    """
    defined = values[~np.isnan(values)]
    if not len(defined):
        return {"estimate": np.nan, "n": 0, "method": "no split has a value"}
    low, high = bootstrap.t_interval(defined) if len(defined) > 1 else (np.nan, np.nan)
    method = f"Student's t, widened for skewed values, over {len(defined)} of {len(values)} splits"
    low, high = np.clip([low, high], least, most)
    return {"estimate": defined.mean(), "low": low, "high": high, "n": len(defined), "method": method}


def paired_rows(keys: Mapping[str, Any], metric: str, gap: Array) -> Rows:
    """Rows of the mean difference over splits, paired, and of the smallest one that its interval shows."""
    facts = summary(gap, -1, 1)
    facts["method"] += ", paired"
    yield tidy.row(STUDY, keys, metric, **facts, null=0.0)
    yield detectable_mean(keys, gap)


def detectable_mean(
    keys: Mapping[str, Any], values: Array, metric: str = "smallest detectable difference", null: float = 0.0
) -> dict[str, Any]:
    """Row of the mean of values (split,) that Student's t over splits shows to be above `null` with probability .9."""
    spread = values.std(ddof=1) if len(values) > 1 else np.nan
    method = f"power {POWER_OF_MEANS:g} of Student's t over {len(values)} splits, normal values that vary as these"
    found = null + smallest_mean_excess(spread, len(values))
    return tidy.row(STUDY, keys, metric, found, n=len(values), method=method, null=null)


def resolution(group: pd.DataFrame, metric: str) -> str:
    """Note for the method of a metric: empty, or that the FPR of a TPR is not `roc.resolved`."""
    if not metric.startswith("tpr@"):
        return ""
    fewest = int(group["nonmember_targets"].min())
    return interpolated(np.zeros(fewest, np.bool_), [float(metric.removeprefix("tpr@"))])[1]


def estimates(runs: pd.DataFrame, fprs: Sequence[float]) -> Rows:
    """Tidy rows of every setting; runs: a line per run. Diverged runs count only in `diverged` and in outcomes."""
    for _, group in runs.groupby(KEYS, sort=False):
        keys = keys_of(group.iloc[0])
        yield from _attacks(group, keys, fprs)
        yield from _performance(group, keys)
        yield from _outcomes(group, keys)


def _attacks(group: pd.DataFrame, keys: Mapping[str, Any], fprs: Sequence[float]) -> Rows:
    chance = {"auc": 0.5} | {f"tpr@{fpr:g}": fpr for fpr in fprs}
    for records in GROUPS:
        for signal in SIGNALS:
            for metric, null in chance.items():
                values = group.get(f"{records}_{signal}_{metric}", pd.Series(dtype=float)).to_numpy()
                if np.isnan(values).all():  # no target of that role, or all runs diverged
                    continue
                named = {**keys, "records": records, "signal": signal}
                mean = summary(values, 0, 1)
                mean["method"] += resolution(group, metric)
                # Context rows have uniform labels and non-members do not, so guessing by label has no AUC of 0.5.
                yield tidy.row(STUDY, named, metric, **mean, null=null if records == "query" else np.nan)
                if metric == "auc" and np.count_nonzero(~np.isnan(values)) > 1:
                    yield tidy.row(STUDY, named, metric + SPREAD, np.nanstd(values, ddof=1), n=len(values))
    larger = summary(group["larger_auc"].to_numpy(), 0, 1)
    yield tidy.row(STUDY, {**keys, "records": "query", "signal": LARGER}, "auc", **larger)


def _performance(group: pd.DataFrame, keys: Mapping[str, Any]) -> Rows:
    yield tidy.row(STUDY, keys, "diverged", group["diverged"].mean(), n=len(group))
    ratio = summary(np.log(group["loss_ratio"].where(group["loss_ratio"] > 0)).to_numpy())
    ratio |= {name: np.exp(ratio[name]) for name in ("estimate", "low", "high") if name in ratio}
    ratio["method"] = f"geometric mean; {ratio['method']}"
    yield tidy.row(STUDY, keys, "loss ratio", **ratio, unit="ratio", null=1.0)
    for records in ("members", "nonmembers"):
        change = summary(group[f"loss_change_{records}"].to_numpy())
        yield tidy.row(STUDY, {**keys, "records": records}, "vanilla loss change", **change, unit="nats", null=0.0)
    quality = "r2" if group["task"].iloc[0] == "regression" else "accuracy"
    for metric, column in {quality: "quality", f"{quality} of the base": "base_quality"}.items():
        chance = {"null": group["chance"].mean(), "unit": "fraction"}
        least = 0.0 if quality == "accuracy" else -np.inf
        yield tidy.row(STUDY, keys, metric, **summary(group[column].to_numpy(), least, 1.0), **chance)
    for metric in ("mu_gap", "sigma_gap"):
        null = 0.0 if metric == "mu_gap" else np.nan
        yield tidy.row(STUDY, keys, metric, **summary(group[metric].to_numpy()), unit="nats", null=null)


def _outcomes(group: pd.DataFrame, keys: Mapping[str, Any]) -> Rows:
    for column in group.columns[group.columns.str.startswith("outcome_")]:
        for outcome in OUTCOMES:
            share, rule = float((group[column] == outcome).mean()), column.removeprefix("outcome_")
            low, high = intervals.clopper_pearson(share * len(group), len(group))
            interval = {
                "low": low,
                "high": high,
                "n": len(group),
                "method": f"Clopper-Pearson, as of {len(group)} splits",
            }
            yield tidy.row(STUDY, {**keys, "rule": rule, "outcome": outcome}, "outcome share", share, **interval)


def peak_epochs(runs: pd.DataFrame) -> pd.Series:
    """Epoch of each data set and condition with the largest mean larger AUC over splits; none where all diverged."""
    means = runs.groupby(["dataset", "arm", "epoch"])["larger_auc"].mean().dropna()
    best = means.groupby(["dataset", "arm"]).idxmax()
    return best.map(lambda place: place[-1])


def score_histograms(runs: pd.DataFrame, changes: Sequence[Mapping[str, Array]], bins: int) -> Rows:
    """Histogram of dS of each condition on each data set at its peak epoch; changes: `score_changes` of every run."""
    for (dataset, condition), epoch in peak_epochs(runs).items():
        chosen = (runs[["dataset", "arm", "epoch"]] == [dataset, condition, epoch]).all(axis=1).to_numpy()
        parts = [changes[i] for i in np.flatnonzero(chosen)]
        groups = dict.fromkeys(name for part in parts for name in part)
        pooled = {name: np.concatenate([part[name] for part in parts if name in part]) for name in groups}
        yield from _histogram(pooled, keys_of(runs[chosen].iloc[0]), bins)


def _histogram(changes: Mapping[str, Array], keys: Mapping[str, Any], bins: int) -> Rows:
    """Shares of each group's dS of the loss (record,) by bin, all splits pooled; all groups have the same bins."""
    edges = histograms.quantile_edges(np.concatenate(list(changes.values())), bins)
    for records, values in changes.items():
        shares = histograms.bin_shares(values, edges)
        for share, left, right in zip(shares, edges[:-1], edges[1:], strict=True):
            named = {**keys, "records": records, "signal": "loss", "left": f"{left:.6g}", "right": f"{right:.6g}"}
            yield tidy.row(STUDY, named, "dS share", share, n=len(values))
