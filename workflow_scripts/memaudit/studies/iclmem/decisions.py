"""What is decided about runs together: which settings hold against chance, at which of them the signal is largest, and
whether it needs the labels (ICLMEM, Table 3; Tables 1, 8, 10, 11 and 12).

A setting is detected where its q-value, Benjamini and Hochberg's over all settings, is at most .05 and the interval of
its mean over splits lies above what chance gives. Beside it stands max-T over the epochs of its arm, and where a table
picks the largest of several settings and signals, max-T over all that it picks from. One setting alone of m is found
with at least m / .05 permutations; several need as much fewer.

Permuted, a member is exchanged for a non-member. That supposes that they differ in nothing but membership, and where
members alone have shuffled labels they differ in their labels, too: such a setting may be detected, above or below one
half, without any memory. Labels that are shuffled for all, and canaries, are clean comparisons.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from memaudit import seeds, tidy
from memaudit.arrays import Array
from memaudit.statistics import bootstrap
from memaudit.studies.iclmem.chance_nulls import LEVEL, max_t, p_value, q_value
from memaudit.studies.iclmem.run_outcomes import COLLAPSE
from memaudit.studies.iclmem.run_results import JUDGED, LARGER, STUDY
from memaudit.studies.iclmem.setting_results import KEYS, keys_of, resolution, summary

Rows = Iterator[dict[str, Any]]

SIGNALS = (*JUDGED, LARGER)
LABELS = ("normal", "shuffled_members", "shuffled_all")  # of the paper; canaries are a question of their own
PEAKS = {
    "regime": ["dataset", "model", "regime"],
    "queries": ["dataset", "model", "regime", "queries"],
    "arm": ["dataset", "settings"],
}
SHOWN = {
    "vanilla loss change members": ("loss_change_members", "nats"),
    "vanilla loss change nonmembers": ("loss_change_nonmembers", "nats"),
    "mu_gap": ("mu_gap", "nats"),
    "sigma_gap": ("sigma_gap", "nats"),
}


class Study(NamedTuple):
    """All runs of a study: a line each, index 0, 1, ..., and in this order what judges them together (`judge_run`)."""

    runs: pd.DataFrame
    null: xr.Dataset

    def settings(self) -> list[NDArray[np.intp]]:
        """Runs of each setting, splits in order."""
        return [np.sort(found) for found in self.runs.groupby(KEYS, sort=False).indices.values()]

    def values(self, name: str) -> dict[str, Array]:
        """An array (run, ...) of the grid for each signal, and the larger of the two."""
        grid = self.null[name].transpose("run", "signal", ...).values.astype(np.float64)
        return {signal: grid[:, i] for i, signal in enumerate(JUDGED)} | {LARGER: grid.max(axis=1)}


def means(values: Array, settings: Sequence[NDArray[np.intp]]) -> Array:
    """Means (setting, ...) over the splits that did not diverge of values (run, ...); NaN where all did."""
    found = np.full((len(settings), *values.shape[1:]), np.nan)
    for place, runs in enumerate(settings):
        sound = values[runs][~np.isnan(values[runs]).reshape(len(runs), -1).any(axis=1)]
        if len(sound):
            found[place] = sound.mean(axis=0)
    return found


def decide(observed: Array, permuted: Array, settings: Sequence[NDArray[np.intp]], signal: str) -> pd.DataFrame:
    """A line a setting: auc, low (of its interval), p, q, detected; observed: (run,), permuted: (run, permutation)."""
    auc, null = means(observed, settings), means(permuted, settings)
    low = np.array([summary(observed[runs]).get("low", np.nan) for runs in settings])
    # Permuted, the larger of two has a mean above one half.
    chance = null.mean(axis=1) if signal == LARGER else 0.5
    p = p_value(auc, null)
    q = q_value(p)
    return pd.DataFrame({"auc": auc, "low": low, "p": p, "q": q, "detected": (q <= LEVEL) & (low > chance)})


def decisions(study: Study) -> dict[str, pd.DataFrame]:
    """`decide` for each signal, with `p_epochs`: max-T over the epochs of the same arm and data set."""
    settings, observed, permuted = study.settings(), study.values("observed"), study.values("permuted")
    lines = study.runs.iloc[[runs[0] for runs in settings]].reset_index(drop=True)
    found = {}
    for signal in SIGNALS:
        table = decide(observed[signal], permuted[signal], settings, signal)
        null, adjusted = means(permuted[signal], settings), np.full(len(table), np.nan)
        for places in lines.groupby(["dataset", "arm"]).indices.values():
            adjusted[places] = max_t(table["auc"].to_numpy()[places], null[places])
        found[signal] = table.assign(p_epochs=adjusted)
    return found


def decision_rows(study: Study, decided: Mapping[str, pd.DataFrame]) -> Rows:
    """Tidy rows of every setting and signal; settings that diverged in all splits have none."""
    usual = f"{study.null.sizes['permutation']} permutations of membership within splits"
    metrics = {"p": "auc p-value", "q": "auc q-value", "p_epochs": "auc max-T p-value"}
    lines = [(study.runs.iloc[runs[0]], len(runs)) for runs in study.settings()]
    for signal, table in decided.items():
        for (line, splits), found in zip(lines, table.to_dict("records"), strict=True):
            if np.isnan(found["p"]):
                continue
            keys, method = {**keys_of(line), "records": "query", "signal": signal}, usual
            if line["labels"] == "shuffled_members":
                method += "; members differ by their labels, too"
            told = {"n": splits, "method": method}
            for name, metric in metrics.items():
                yield tidy.row(STUDY, keys, metric, found[name], unit="probability", **told)
            yield tidy.row(STUDY, keys, "auc detected", found["detected"], unit="yes or no", **told)
        told = {"unit": "settings", "method": f"q <= {LEVEL}, and the interval above chance"}
        judged = table.assign(labels=[line["labels"] for line, _ in lines])[table["p"].notna()]
        for labels, found in [("all", judged), *judged.groupby("labels")]:
            named = {"labels": labels, "signal": signal}
            yield tidy.row(STUDY, named, "detected settings", found["detected"].sum(), n=len(found), **told)


def peaks(study: Study, decided: Mapping[str, pd.DataFrame], fprs: Sequence[float]) -> Rows:
    """Tidy rows of the settings whose AUC on loss or entropy is largest, within each group of PEAKS.

    Of arms with the paper's labels, those that collapsed in at least half of their splits only where all did. The max-T
    p-value is over all settings of the group that could have been picked and both signals.
    """
    settings = study.settings()
    lines = study.runs.iloc[[runs[0] for runs in settings]].reset_index(drop=True)
    rule = study.runs.columns[study.runs.columns.str.startswith("outcome_")][0]
    broken = np.array([(study.runs[rule].iloc[runs] == COLLAPSE).mean() >= 0.5 for runs in settings])
    aucs = np.stack([decided[signal]["auc"] for signal in JUDGED], axis=1)
    permuted = study.values("permuted")
    nulls = np.stack([means(permuted[signal], settings) for signal in JUDGED], axis=1)
    possible = lines["labels"].isin(LABELS).to_numpy() & ~np.isnan(aucs[:, 0])
    for name, by in PEAKS.items():
        for places in lines[possible].groupby(by, sort=False).groups.values():
            sound = places[~broken[places]]
            picked = np.asarray(sound if len(sound) else places)
            best = int(np.nanargmax(aucs[picked]))
            p = max_t(aucs[picked].ravel(), nulls[picked].reshape(aucs[picked].size, -1))[best]
            yield from _peak(study, settings[picked[best // 2]], JUDGED[best % 2], rule, name, p, fprs)


def _peak(
    study: Study, runs: NDArray[np.intp], signal: str, rule: str, name: str, p: float, fprs: Sequence[float]
) -> Rows:
    """Rows of one setting, and the AUC of its twins with other labels; their key `outcome` is the most frequent one."""
    group = study.runs.iloc[runs]
    line = group.iloc[0]
    keys = {**keys_of(line), "peak": name, "signal": signal, "outcome": group[rule].mode().iloc[0]}
    chance = {"auc": 0.5} | {f"tpr@{fpr:g}": fpr for fpr in fprs}
    for metric, null in chance.items():
        found = summary(group[f"query_{signal}_{metric}"].to_numpy(), 0, 1)
        found["method"] += resolution(group, metric)
        yield tidy.row(STUDY, keys, metric, **found, null=null)
    for metric, (column, unit) in SHOWN.items():
        yield tidy.row(STUDY, keys, metric, **summary(group[column].to_numpy()), unit=unit)
    yield tidy.row(STUDY, keys, "auc max-T p-value", p, unit="probability", n=len(group))
    twins = study.runs[
        (study.runs[["dataset", "settings", "epoch"]] == line[["dataset", "settings", "epoch"]]).all(axis=1)
    ]
    for labels, twin in twins.groupby("labels", sort=False):
        found = summary(twin[f"query_{signal}_auc"].to_numpy())
        yield tidy.row(STUDY, keys, f"auc {labels}", **found, null=0.5)


def label_effects(study: Study, seed: int) -> Iterator[tuple[dict[str, Any], NDArray[np.intp], str]]:
    """What other labels take from the AUC: a tidy row, the runs with normal labels that it speaks of, and those labels.

    The difference of AUCs at the same settings and epoch, on the same records; its interval resamples records (common
    weights) and splits. Above 0 the signal "weakens materially" (Table 3).
    """
    for _, twins in study.runs.groupby(["dataset", "settings", "epoch"], sort=False):
        conditions = dict(list(twins.groupby("labels", sort=False)))
        normal = conditions.pop("normal", None)
        for labels, other in conditions.items() if normal is not None else ():
            for signal in JUDGED:
                yield _label_effect(study, normal, other, signal, seed), normal.index.to_numpy(), labels


def _label_effect(study: Study, normal: pd.DataFrame, other: pd.DataFrame, signal: str, seed: int) -> dict[str, Any]:
    line, labels = normal.iloc[0], other["labels"].iloc[0]
    keys = {**keys_of(line), "labels": f"normal - {labels}", "records": "query", "signal": signal}
    pairs = normal.reset_index().merge(other.reset_index(), on="split")
    pairs = pairs[~(pairs["diverged_x"] | pairs["diverged_y"]).astype(bool)]
    if pairs.empty:
        return tidy.row(STUDY, keys, "auc difference", np.nan, method="all splits diverged")
    first, second = (pairs[f"index_{side}"].to_numpy() for side in "xy")
    observed, samples = (study.null[name].sel(signal=signal).values for name in ("observed", "bootstrapped"))
    gap, drawn = observed[first] - observed[second], samples[first] - samples[second]
    rng = seeds.generator(seed, STUDY, line["dataset"], "splits")
    weights = bootstrap.two_way_weights(1, len(gap), drawn.shape[1], rng).records
    low, high = bootstrap.interval((weights.T * drawn).sum(0) / weights.sum(1))
    method = f"paired bootstrap of records and of {len(gap)} splits, {drawn.shape[1]} replicates"
    return tidy.row(STUDY, keys, "auc difference", gap.mean(), low=low, high=high, n=len(gap), method=method, null=0.0)
