"""Tests over all runs together: detected settings, the settings with the largest signal, and the effect of labels.

ICLMEM, Table 3; Tables 1, 8, 10, 11 and 12. A signal is detected in a setting if its q-value (Benjamini and Hochberg,
over all settings and signals) is at most .05 and the interval of its mean over splits lies above chance. The larger of
the paper's two signals, which its rules take, is a family of its own. Max-T p-values over the epochs of its condition
are reported beside, and where a table picks the largest of several settings and signals, max-T p-values over all that
it picks from. With m / .05 permutations a single one of m AUCs can be detected; several detected ones need
correspondingly fewer.

A permutation exchanges a member with a non-member. This assumes that they differ in membership alone. Where only the
members' labels are shuffled they differ in their labels too: such a setting may be detected, above or below one half,
without memorization, and is not under the null. It is corrected apart, so that it does not lower the q-values of
others. Labels that are shuffled for all records, and canaries, are clean comparisons.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from memaudit.common import seeds, tidy
from memaudit.common.arrays import Array, Mask
from memaudit.statistics import bootstrap
from memaudit.statistics.detection_power import POWER_OF_MEANS, smallest_mean_excess
from memaudit.statistics.permutation_tests import max_t, max_t_half_widths, p_value, p_values_of_permutations, q_value
from memaudit.studies.iclmem.outcome_rules import COLLAPSE, LEVEL
from memaudit.studies.iclmem.run_metrics import ATTACK_SIGNALS, LARGER, SIGNALS, STUDY, larger
from memaudit.studies.iclmem.setting_summaries import KEYS, keys_of, resolution, summary

Rows = Iterator[dict[str, Any]]

FAMILIES = (SIGNALS, (LARGER,))  # signals that are corrected together
CLEAN = "all"  # label conditions but the confounded one
CONFOUNDED = "shuffled_members"  # labels under which members differ by more than their membership
LABELS = ("normal", "shuffled_members", "shuffled_all")  # of the paper; canaries are reported apart
PEAKS = {
    "regime": ["dataset", "model", "regime"],
    "queries": ["dataset", "model", "regime", "queries"],
    "arm": ["dataset", "settings"],
}
REPORTED = {
    "vanilla loss change members": ("loss_change_members", "nats"),
    "vanilla loss change nonmembers": ("loss_change_nonmembers", "nats"),
    "mu_gap": ("mu_gap", "nats"),
    "sigma_gap": ("sigma_gap", "nats"),
}


class Largest(NamedTuple):
    """What the choice of the largest AUC among several settings and signals means for it.

    p: max-T p-value; half: half-width of its simultaneous 95 % interval; null: mean of the largest AUC under permuted
    memberships; among: number of AUCs; permutations: their number.
    """

    p: float
    half: float
    null: float
    among: int
    permutations: int


class Study(NamedTuple):
    """All runs of a study: a line each with index 0, 1, ..., and their arrays (`judge_run`) in the same order."""

    runs: pd.DataFrame
    null: xr.Dataset

    def settings(self) -> list[NDArray[np.intp]]:
        """Runs of each setting, splits in order."""
        return [np.sort(places) for places in self.runs.groupby(KEYS, sort=False).indices.values()]

    def values(self, name: str) -> dict[str, Array]:
        """An array (run, ...) of `null` for each signal, and the larger of the paper's two."""
        values = self.null[name].transpose("signal", "run", ...).values.astype(np.float64)
        return dict(zip(SIGNALS, values, strict=True)) | {LARGER: larger(values)}


def means(values: Array, settings: Sequence[NDArray[np.intp]]) -> Array:
    """Means (setting, ...) of values (run, ...) over the splits that did not diverge; NaN where all did."""
    averaged = np.full((len(settings), *values.shape[1:]), np.nan)
    for place, runs in enumerate(settings):
        finite = values[runs][~np.isnan(values[runs]).reshape(len(runs), -1).any(axis=1)]
        if len(finite):
            averaged[place] = finite.mean(axis=0)
    return averaged


def decide(observed: Array, permuted: Array, settings: Sequence[NDArray[np.intp]], signal: str) -> pd.DataFrame:
    """Table of settings; observed: (run,), permuted: (run, permutation).

    auc; low, of its interval; p; above: whether low is above chance; detectable: the smallest AUC that the interval
    shows to be above chance with probability .9, for splits that vary as permuted memberships do.
    """
    auc, null = means(observed, settings), means(permuted, settings)
    low = np.array([summary(observed[runs]).get("low", np.nan) for runs in settings])
    # The larger of two permuted AUCs has a mean above one half.
    chance = null.mean(axis=1) if signal == LARGER else np.full(len(auc), 0.5)
    facts = {"auc": auc, "low": low, "p": p_value(auc, null), "above": low > chance}
    return pd.DataFrame(facts | {"detectable": chance + [_excess(permuted[runs]) for runs in settings]})


def _excess(permuted: Array) -> float:
    finite = permuted[~np.isnan(permuted).any(axis=1)]
    return smallest_mean_excess(float(finite.std(axis=1).mean()), len(finite)) if len(finite) else np.nan


def decisions(study: Study) -> dict[str, pd.DataFrame]:
    """`decide` for each signal, with q, detected, and `p_epochs`: max-T over the epochs of its condition."""
    settings, observed, permuted = study.settings(), study.values("observed"), study.values("permuted")
    lines = study.runs.iloc[[runs[0] for runs in settings]].reset_index(drop=True)
    decided = {}
    for signal in (*SIGNALS, LARGER):
        table = decide(observed[signal], permuted[signal], settings, signal)
        null, adjusted = means(permuted[signal], settings), np.full(len(table), np.nan)
        for places in lines.groupby(["dataset", "arm"]).indices.values():
            adjusted[places] = max_t(table["auc"].to_numpy()[places], null[places])
        decided[signal] = table.assign(p_epochs=adjusted)
    return _corrected(decided, (lines["labels"] == CONFOUNDED).to_numpy())


def _corrected(decided: Mapping[str, pd.DataFrame], confounded: Mask) -> dict[str, pd.DataFrame]:
    """The tables with q and detected; confounded: (setting,), corrected apart."""
    tables = {}
    for family in FAMILIES:
        p = np.stack([decided[signal]["p"] for signal in family])
        q = np.full(p.shape, np.nan)
        for chosen in (confounded, ~confounded):
            q[:, chosen] = q_value(p[:, chosen].ravel()).reshape(len(family), -1)
        for signal, values in zip(family, q, strict=True):
            table = decided[signal]
            tables[signal] = table.assign(q=values, detected=(values <= LEVEL) & table["above"])
    return tables


def permuted_detections(study: Study, family: Sequence[str] = SIGNALS) -> Mask:
    """Whether a permuted membership in place of the true one is detected: (signal, setting, permutation).

    By q alone, corrected as in `decisions`; that the interval is above chance, too, makes detections rarer still.
    """
    settings, permuted = study.settings(), study.values("permuted")
    p = p_values_of_permutations(np.stack([means(permuted[signal], settings) for signal in family]))
    confounded = np.array([study.runs["labels"].iloc[runs[0]] == CONFOUNDED for runs in settings])
    detected = np.zeros(p.shape, dtype=bool)
    for chosen in (confounded, ~confounded):
        each = p[:, chosen].reshape(-1, p.shape[-1]).T
        q = np.array([q_value(one) for one in each]).T
        detected[:, chosen] = (q <= LEVEL).reshape(len(family), -1, p.shape[-1])
    return detected


def decision_rows(study: Study, decided: Mapping[str, pd.DataFrame]) -> Rows:
    """Tidy rows of every setting and signal; settings that diverged in all splits have none."""
    permutations = f"{study.null.sizes['permutation']} permutations of membership within splits"
    metrics = {"p": "auc p-value", "q": "auc q-value", "p_epochs": "auc max-T p-value"}
    lines = [(study.runs.iloc[runs[0]], len(runs)) for runs in study.settings()]
    for signal, table in decided.items():
        for (line, splits), decision in zip(lines, table.to_dict("records"), strict=True):
            if np.isnan(decision["p"]):
                continue
            keys, method = {**keys_of(line), "records": "query", "signal": signal}, permutations
            if line["labels"] == CONFOUNDED:
                method += "; members differ by their labels, too; corrected apart"
            facts = {"n": splits, "method": method}
            for name, metric in metrics.items():
                yield tidy.row(STUDY, keys, metric, decision[name], unit="probability", **facts)
            yield tidy.row(STUDY, keys, "auc detected", decision["detected"], unit="yes or no", **facts)
            power = {"n": splits, "method": f"power {POWER_OF_MEANS:g} of the interval over splits, normal AUCs"}
            yield tidy.row(STUDY, keys, "smallest detectable auc", decision["detectable"], null=0.5, **power)
        judged = table.assign(labels=[line["labels"] for line, _ in lines])[table["p"].notna()]
        for labels, part in [(CLEAN, judged[judged["labels"] != CONFOUNDED]), *judged.groupby("labels")]:
            yield from _counted(part, {"labels": labels, "signal": signal})
    yield _detected_by_chance(study, np.array([line["labels"] != CONFOUNDED for line, _ in lines]))


def _detected_by_chance(study: Study, clean: Mask) -> dict[str, Any]:
    """Row of the detections of all signals together under permuted memberships: mean, and where 95 % of them lie."""
    counts = permuted_detections(study)[:, clean].sum(axis=(0, 1))
    low, high = bootstrap.quantiles(counts, [0.025, 0.975])
    facts = {"n": len(counts), "unit": "settings", "method": "permutations of membership; by q alone"}
    keys, name = {"labels": CLEAN, "signal": "any"}, "detections under permutation"
    return tidy.row(STUDY, keys, name, counts.mean(), low=low, high=high, null=0.0, **facts)


def _counted(settings: pd.DataFrame, keys: Mapping[str, Any]) -> Rows:
    """Rows of the number of detected settings, and of the AUC that half of all settings can detect."""
    method = f"q <= {LEVEL}, and the interval above chance"
    found = settings["detected"].sum()
    yield tidy.row(STUDY, keys, "detected settings", found, n=len(settings), unit="settings", method=method)
    facts = {"n": len(settings), "method": "median over settings", "null": 0.5}
    yield tidy.row(STUDY, keys, "median smallest detectable auc", settings["detectable"].median(), **facts)


def peaks(study: Study, decided: Mapping[str, pd.DataFrame], fprs: Sequence[float]) -> Rows:
    """Tidy rows of the settings with the largest AUC on loss or entropy, within each group of PEAKS.

    Only conditions with the paper's labels are compared. Those that collapsed in at least half of their splits are
    picked only where all did. The max-T p-value, and the interval and null of the AUC, are over all settings of the
    group that could have been picked and both signals.
    """
    settings = study.settings()
    lines = study.runs.iloc[[runs[0] for runs in settings]].reset_index(drop=True)
    rule = study.runs.columns[study.runs.columns.str.startswith("outcome_")][0]
    broken = np.array([(study.runs[rule].iloc[runs] == COLLAPSE).mean() >= 0.5 for runs in settings])
    aucs = np.stack([decided[signal]["auc"] for signal in ATTACK_SIGNALS], axis=1)
    permuted = study.values("permuted")
    nulls = np.stack([means(permuted[signal], settings) for signal in ATTACK_SIGNALS], axis=1)
    possible = lines["labels"].isin(LABELS).to_numpy() & ~np.isnan(aucs[:, 0])
    for name, by in PEAKS.items():
        for places in lines[possible].groupby(by, sort=False).groups.values():
            intact = places[~broken[places]]
            compared = np.asarray(intact if len(intact) else places)
            best = int(np.nanargmax(aucs[compared]))
            largest = _largest(aucs[compared].ravel(), nulls[compared].reshape(aucs[compared].size, -1), best)
            yield from _peak(study, settings[compared[best // 2]], ATTACK_SIGNALS[best % 2], rule, name, largest, fprs)


def _largest(observed: Array, null: Array, best: int) -> Largest:
    """observed: (setting,), null: (setting, permutation), NaN for settings without an AUC."""
    defined = null[~np.isnan(observed)]
    half = max_t_half_widths(defined)[np.count_nonzero(~np.isnan(observed[:best]))]
    p = float(max_t(observed, null)[best])
    return Largest(p, float(half), float(defined.max(0).mean()), len(defined), null.shape[1])


def tpr_peaks(study: Study, fprs: Sequence[float]) -> Rows:
    """Tidy rows of the largest mean TPR of each data set, model and regime at each FPR; key `peak`: tpr.

    Among the paper's labels and settings that did not collapse in half of their splits. The interval, Student's t over
    splits at level 1 - .05 / m for m settings and signals (Bonferroni), covers with the choice of the largest.
    """
    rule = study.runs.columns[study.runs.columns.str.startswith("outcome_")][0]
    runs = study.runs[study.runs["labels"].isin(LABELS)]
    intact = (runs[rule] != COLLAPSE).groupby([runs[key] for key in KEYS]).transform("mean") > 0.5
    for _, group in runs[intact].groupby(PEAKS["regime"], sort=False):
        for fpr in fprs:
            metric = f"tpr@{fpr:g}"
            columns = {signal: f"query_{signal}_{metric}" for signal in ATTACK_SIGNALS}
            found = [
                (of[column].dropna().to_numpy(), keys_of(of.iloc[0]), signal, resolution(of, metric))
                for _, of in group.groupby(KEYS, sort=False)
                for signal, column in columns.items()
            ]
            found = [one for one in found if len(one[0]) > 1]
            if not found:
                continue
            values, keys, signal, note = max(found, key=lambda one: one[0].mean())
            low, high = np.clip(bootstrap.t_interval(values, 1 - (1 - bootstrap.LEVEL) / len(found)), 0, 1)
            method = f"Student's t over {len(values)} splits, Bonferroni for {len(found)} settings and signals{note}"
            named = {**keys, "peak": "tpr", "signal": signal}
            facts = {"low": low, "high": high, "null": fpr, "n": len(values), "method": method}
            yield tidy.row(STUDY, named, metric, values.mean(), **facts)


def _peak(
    study: Study, runs: NDArray[np.intp], signal: str, rule: str, name: str, largest: Largest, fprs: Sequence[float]
) -> Rows:
    """Rows of one setting, and the AUC of matched conditions with other labels; key `outcome`: the most frequent."""
    group = study.runs.iloc[runs]
    line = group.iloc[0]
    keys = {**keys_of(line), "peak": name, "signal": signal, "outcome": group[rule].mode().iloc[0]}
    chance = {"auc": 0.5} | {f"tpr@{fpr:g}": fpr for fpr in fprs}
    for metric, null in chance.items():
        mean = summary(group[f"query_{signal}_{metric}"].to_numpy(), 0, 1)
        mean["method"] += resolution(group, metric)
        if metric == "auc":
            mean |= _simultaneous(mean["estimate"], largest)
        yield tidy.row(STUDY, keys, metric, **mean, null=largest.null if metric == "auc" else null)
    for metric, (column, unit) in REPORTED.items():
        yield tidy.row(STUDY, keys, metric, **summary(group[column].to_numpy()), unit=unit)
    facts = {"unit": "probability", "n": largest.among, "method": f"{largest.permutations} permutations; n: AUCs"}
    yield tidy.row(STUDY, keys, "auc max-T p-value", largest.p, **facts)
    matched = study.runs[
        (study.runs[["dataset", "settings", "epoch"]] == line[["dataset", "settings", "epoch"]]).all(axis=1)
    ]
    for labels, condition in matched.groupby("labels", sort=False):
        mean = summary(condition[f"query_{signal}_auc"].to_numpy())
        yield tidy.row(STUDY, keys, f"auc {labels}", **mean, null=0.5)


def _simultaneous(auc: float, largest: Largest) -> dict[str, Any]:
    low, high = np.clip([auc - largest.half, auc + largest.half], 0, 1)
    method = f"max-T over {largest.among} settings and signals, {largest.permutations} permutations of membership"
    return {"low": low, "high": high, "method": f"{method}; null: mean of the largest permuted AUC"}


def label_effects(study: Study, seed: int) -> Iterator[tuple[dict[str, Any], NDArray[np.intp], str]]:
    """Loss of AUC under other labels: a tidy row, the runs with normal labels that it compares, and the other labels.

    The difference of AUCs at the same settings and epoch, on the same records; its interval resamples records (common
    weights) and splits. Above 0 the signal "weakens materially" (Table 3).
    """
    for _, matched in study.runs.groupby(["dataset", "settings", "epoch"], sort=False):
        conditions = dict(list(matched.groupby("labels", sort=False)))
        normal = conditions.pop("normal", None)
        for labels, other in conditions.items() if normal is not None else ():
            for signal in ATTACK_SIGNALS:
                yield _label_effect(study, normal, other, signal, seed), normal.index.to_numpy(), labels


def _label_effect(study: Study, normal: pd.DataFrame, other: pd.DataFrame, signal: str, seed: int) -> dict[str, Any]:
    line, labels = normal.iloc[0], other["labels"].iloc[0]
    keys = {**keys_of(line), "labels": f"normal - {labels}", "records": "query", "signal": signal}
    pairs = normal.reset_index().merge(other.reset_index(), on="split")
    pairs = pairs[~(pairs["diverged_x"] | pairs["diverged_y"]).astype(bool)]
    if pairs.empty:
        return tidy.row(STUDY, keys, "auc difference", np.nan, method="all splits diverged")
    first, second = (pairs[f"index_{suffix}"].to_numpy() for suffix in "xy")
    observed, samples = (study.null[name].sel(signal=signal).values for name in ("observed", "bootstrapped"))
    gap, drawn = observed[first] - observed[second], samples[first] - samples[second]
    rng = seeds.generator(seed, STUDY, line["dataset"], "splits")
    weights = bootstrap.two_way_weights(1, len(gap), drawn.shape[1], rng).records
    low, high = bootstrap.mean_of_units(gap, drawn, weights, -1, 1)
    method = f"paired bootstrap of records and of {len(gap)} splits, {drawn.shape[1]} replicates"
    return tidy.row(STUDY, keys, "auc difference", gap.mean(), low=low, high=high, n=len(gap), method=method, null=0.0)
