"""Settings of the study of memorization, i.e. a data set, an arm and an epoch, over their splits, as tidy results.

The split is the unit: estimates are means over splits, intervals Student's t over them, and the deviation between
splits stands beside.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from memaudit import tidy
from memaudit.arrays import Array
from memaudit.statistics import bootstrap, intervals
from memaudit.statistics.attack_performance import interpolated
from memaudit.studies.iclmem.chance_nulls import LEVEL
from memaudit.studies.iclmem.run_outcomes import OUTCOMES, Rule, collapsed, flags, outcomes, published
from memaudit.studies.iclmem.run_results import GROUPS, JUDGED, LARGER, STUDY

Rows = Iterator[dict[str, Any]]

KEYS = ["dataset", "arm", "model", "regime", "labels", "learning_rate", "queries", "context", "epoch"]
NULL_CALIBRATED = "null_calibrated"
PLACEBO = "placebo"  # an arm that is fine-tuned on other records than those that are judged
NOT_COMPARED = ("labels", "epochs", "datasets")
SPREAD = " deviation between splits"


def describe(arm: Mapping[str, Any]) -> dict[str, Any]:
    """What the lines of an arm's runs say of it. `settings`: all that twins with other labels have in common."""
    kinds = [name for key, name in {"adapter": "lora", "private": "private", PLACEBO: PLACEBO}.items() if arm[key]]
    common = {key: value for key, value in arm.items() if key not in NOT_COMPARED}
    return {
        "model": arm["model"],
        "regime": " ".join(["joint" if arm["joint"] else "single", arm["pairs"], *kinds]),
        **{key: arm[key] for key in ("labels", "learning_rate", "queries")},
        "context": "all" if arm["context"] is None else str(arm["context"]),
        "settings": json.dumps(common, sort_keys=True),
    }


def ruled(runs: pd.DataFrame, rules: Mapping[str, Mapping[str, float]]) -> pd.DataFrame:
    """Lines of runs with their loss ratio, flags, and outcome under each rule: outcome_RULE.

    rules: thresholds by name. Null-calibrated is the first of them with p <= .05 of the larger AUC, under permutations
    of which each takes its larger, too, as what is detectable.
    """
    known = {name: Rule(**thresholds) for name, thresholds in rules.items()}
    usual = next(iter(known.values()))
    found = {f"outcome_{name}": outcomes(runs, rule, published(runs, rule)) for name, rule in known.items()}
    found[f"outcome_{NULL_CALIBRATED}"] = outcomes(runs, usual, (runs["larger_p"] <= LEVEL).to_numpy())
    flagged = flags(runs["raw_tpr"].to_numpy(), runs["reference_tpr"].to_numpy(), usual)
    found["raw_flag"], found["calibrated_flag"] = (hits & ~collapsed(runs, usual) for hits in flagged)
    ratio = (runs["loss"] / runs["base_loss"]).where(runs["base_loss"] > 0)
    return runs.assign(loss_ratio=ratio, **found)


def keys_of(line: Mapping[str, Any], names: Sequence[str] = KEYS) -> dict[str, str]:
    """Keys of a tidy result from a line of a table; numbers in their shortest form."""
    return {name: f"{line[name]:g}" if isinstance(line[name], float) else str(line[name]) for name in names}


def summary(values: Array, least: float = -np.inf, most: float = np.inf) -> dict[str, Any]:
    """Mean over splits with its t interval, of those that have a value; one split has no interval. least, most: what
    the quantity can be, where the interval ends at the latest."""
    found = values[~np.isnan(values)]
    if not len(found):
        return {"estimate": np.nan, "n": 0, "method": "no split has a value"}
    low, high = bootstrap.t_interval(found) if len(found) > 1 else (np.nan, np.nan)
    method = f"Student's t over {len(found)} of {len(values)} splits"
    low, high = np.clip([low, high], least, most)
    return {"estimate": found.mean(), "low": low, "high": high, "n": len(found), "method": method}


def resolution(group: pd.DataFrame, metric: str) -> str:
    """What to add to the method of a metric: nothing, or that it is a TPR below 1 / number of non-members."""
    if not metric.startswith("tpr@"):
        return ""
    fewest = int(group["nonmember_targets"].min())
    return interpolated(np.zeros(fewest, np.bool_), [float(metric.removeprefix("tpr@"))])[1]


def estimates(runs: pd.DataFrame, fprs: Sequence[float]) -> Rows:
    """Tidy rows of every setting. runs: a line a run; those that diverged count in `diverged` and outcomes alone."""
    for _, group in runs.groupby(KEYS, sort=False):
        keys = keys_of(group.iloc[0])
        yield from _attacks(group, keys, fprs)
        yield from _health(group, keys)
        yield from _outcomes(group, keys)


def _attacks(group: pd.DataFrame, keys: Mapping[str, Any], fprs: Sequence[float]) -> Rows:
    chance = {"auc": 0.5} | {f"tpr@{fpr:g}": fpr for fpr in fprs}
    for records in GROUPS:
        for signal in JUDGED:
            for metric, null in chance.items():
                values = group.get(f"{records}_{signal}_{metric}", pd.Series(dtype=float)).to_numpy()
                if np.isnan(values).all():  # none of that role among the targets, or all diverged
                    continue
                named = {**keys, "records": records, "signal": signal}
                found = summary(values, 0, 1)
                found["method"] += resolution(group, metric)
                # Labels of context rows are uniform, those of non-members are not: guessing by label has no 0.5 there.
                yield tidy.row(STUDY, named, metric, **found, null=null if records == "query" else np.nan)
                if metric == "auc" and np.count_nonzero(~np.isnan(values)) > 1:
                    yield tidy.row(STUDY, named, metric + SPREAD, np.nanstd(values, ddof=1), n=len(values))
    vanilla = summary(group["vanilla_auc"].to_numpy(), 0, 1)
    yield tidy.row(STUDY, {**keys, "records": "query", "signal": "loss"}, "vanilla auc", **vanilla, null=0.5)
    larger = summary(group["larger_auc"].to_numpy(), 0, 1)
    yield tidy.row(STUDY, {**keys, "records": "query", "signal": LARGER}, "auc", **larger)


def _health(group: pd.DataFrame, keys: Mapping[str, Any]) -> Rows:
    yield tidy.row(STUDY, keys, "diverged", group["diverged"].mean(), n=len(group))
    ratio = summary(np.log(group["loss_ratio"].where(group["loss_ratio"] > 0)).to_numpy())
    ratio |= {name: np.exp(ratio[name]) for name in ("estimate", "low", "high") if name in ratio}
    ratio["method"] = f"geometric mean; {ratio['method']}"
    yield tidy.row(STUDY, keys, "loss ratio", **ratio, unit="ratio", null=1.0)
    for side in ("members", "nonmembers"):
        change = summary(group[f"loss_change_{side}"].to_numpy())
        yield tidy.row(STUDY, {**keys, "records": side}, "vanilla loss change", **change, unit="nats", null=0.0)
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
            low, high = intervals.wilson(share, len(group))
            interval = {"low": low, "high": high, "n": len(group), "method": f"Wilson, as of {len(group)} splits"}
            yield tidy.row(STUDY, {**keys, "rule": rule, "outcome": outcome}, "outcome share", share, **interval)


def most_telling(runs: pd.DataFrame) -> pd.Series:
    """The epoch of each (data set, arm) whose mean over splits of the larger AUC is largest; none if all diverged."""
    means = runs.groupby(["dataset", "arm", "epoch"])["larger_auc"].mean().dropna()
    best = means.groupby(["dataset", "arm"]).idxmax()
    return best.map(lambda place: place[-1])


def histograms(runs: pd.DataFrame, spreads: Sequence[Mapping[str, Array]], bins: int) -> Rows:
    """A histogram of each arm on each data set at its most telling epoch; spreads: `deltas` of every run."""
    for (dataset, arm), epoch in most_telling(runs).items():
        chosen = (runs[["dataset", "arm", "epoch"]] == [dataset, arm, epoch]).all(axis=1).to_numpy()
        parts = [spreads[i] for i in np.flatnonzero(chosen)]
        groups = dict.fromkeys(name for part in parts for name in part)
        whole = {name: np.concatenate([part[name] for part in parts if name in part]) for name in groups}
        yield from histogram(whole, keys_of(runs[chosen].iloc[0]), bins)


def histogram(deltas: Mapping[str, Array], keys: Mapping[str, Any], bins: int) -> Rows:
    """How dS of the loss is spread, (record,) by group of records, all splits together, as shares of each group.

    Bins are equal between the 1 % and 99 % quantiles of all; the outermost two hold what lies beyond.
    """
    low, high = np.quantile(np.concatenate(list(deltas.values())), [0.01, 0.99])
    edges = np.linspace(low, high if high > low else low + 1, bins + 1)
    for records, values in deltas.items():
        shares = np.histogram(np.clip(values, edges[0], edges[-1]), edges)[0] / len(values)
        for share, left, right in zip(shares, edges[:-1], edges[1:], strict=True):
            named = {**keys, "records": records, "signal": "loss", "left": f"{left:.6g}", "right": f"{right:.6g}"}
            yield tidy.row(STUDY, named, "dS share", share, n=len(values))
