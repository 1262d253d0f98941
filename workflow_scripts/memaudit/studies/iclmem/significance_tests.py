"""Tests over all runs together: the settings in which members are detected (ICLMEM, Table 3).

A signal is detected in a setting if its q-value (Benjamini and Hochberg, over all settings and signals) is at most .05
and the interval of its mean over splits lies above chance. The larger of the paper's two signals, which its rules take,
is a family of its own. Max-T p-values over the epochs of its condition are reported beside. With m / .05 permutations a
single one of m AUCs can be detected; several detected ones need correspondingly fewer.

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

from memaudit.common import tidy
from memaudit.common.arrays import Array, Mask
from memaudit.statistics import bootstrap
from memaudit.statistics.bootstrap import t_half_width
from memaudit.statistics.detection_power import POWER_OF_MEANS, critical, smallest_mean_excess
from memaudit.statistics.permutation_tests import (
    max_t,
    p_value,
    p_values_of_permutations,
    q_value,
    q_values_of_permutations,
)
from memaudit.studies.iclmem.outcome_rules import LEVEL
from memaudit.studies.iclmem.probe_misses import probe_misses
from memaudit.studies.iclmem.run_metrics import LARGER, SIGNALS, STUDY, larger
from memaudit.studies.iclmem.setting_summaries import KEYS, keys_of, summary

Rows = Iterator[dict[str, Any]]

FAMILIES = (SIGNALS, (LARGER,))  # signals that are corrected together
CLEAN = "all"  # label conditions but the confounded one
CONFOUNDED = "shuffled_members"  # labels under which members differ by more than their membership
LABELS = ("normal", CONFOUNDED, "shuffled_all")  # of the paper; canaries are reported apart


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

    auc; low, of its interval; chance; p; above: whether low is above chance; spread: standard deviation of a permuted
    AUC, a mean over the splits that did not diverge; splits: their number.
    """
    auc, null = means(observed, settings), means(permuted, settings)
    low = np.array([summary(observed[runs]).get("low", np.nan) for runs in settings])
    chance = _chance(null, signal)
    finite = [permuted[runs][~np.isnan(permuted[runs]).any(axis=1)] for runs in settings]
    spread = [values.std(axis=1).mean() if len(values) else np.nan for values in finite]
    facts = {"auc": auc, "low": low, "chance": chance, "p": p_value(auc, null), "above": low > chance}
    return pd.DataFrame(facts | {"spread": spread, "splits": [len(values) for values in finite]})


def _chance(null: Array, signal: str) -> Array:
    """AUC (setting,) without memory; null: (setting, permutation). The larger of two has a mean above one half."""
    return null.mean(axis=1) if signal == LARGER else np.full(len(null), 0.5)


def decisions(study: Study) -> dict[str, pd.DataFrame]:
    """`decide` for each signal, with q, detected, `p_epochs`: max-T over the epochs of its condition, and detectable.

    The last is the smallest AUC that is detected with probability .9 beside the other detections of its family, for
    splits that vary as permuted memberships do; 1 where no AUC is.
    """
    settings, observed, permuted = study.settings(), study.values("observed"), study.values("permuted")
    lines = study.runs.iloc[[runs[0] for runs in settings]].reset_index(drop=True)
    decided = {signal: decide(observed[signal], permuted[signal], settings, signal) for signal in (*SIGNALS, LARGER)}
    decided = corrected(decided, _confounded(study))
    for signal, table in decided.items():
        null, adjusted = means(permuted[signal], settings), np.full(len(table), np.nan)
        for places in lines.groupby(["dataset", "arm"]).indices.values():
            adjusted[places] = max_t(table["auc"].to_numpy()[places], null[places])
        decided[signal] = table.assign(p_epochs=adjusted, detectable=_detectable(table, null))
    return decided


def _confounded(study: Study) -> Mask:
    """Settings (setting,) whose members differ by their labels, too: corrected apart."""
    return np.array([study.runs["labels"].iloc[runs[0]] == CONFOUNDED for runs in study.settings()], dtype=bool)


def corrected(decided: Mapping[str, pd.DataFrame], confounded: Mask) -> dict[str, pd.DataFrame]:
    """The tables of `decide` with q, detected, and level: the largest p-value detected beside the others' detections.

    decided: by signal, of SIGNALS and LARGER; confounded: (setting,), those that are corrected apart.
    """
    tables = {}
    for family in FAMILIES:
        p = np.stack([decided[signal]["p"] for signal in family])
        q, level = np.full(p.shape, np.nan), np.full(p.shape, np.nan)
        for chosen in (confounded, ~confounded):
            q[:, chosen] = q_value(p[:, chosen].ravel()).reshape(len(family), -1)
            found = q[:, chosen] <= LEVEL
            level[:, chosen] = LEVEL * (1 + found.sum() - found) / max(1, np.count_nonzero(~np.isnan(p[:, chosen])))
        for signal, values, of_others in zip(family, q, level, strict=True):
            table = decided[signal]
            detected = (values <= LEVEL) & table["above"]
            tables[signal] = table.assign(q=values, detected=detected, level=of_others)
    return tables


def _detectable(table: pd.DataFrame, null: Array) -> Array:
    """AUCs (setting,), see `decisions`; null: (setting, permutation)."""
    found = np.full(len(table), np.nan)
    for at, (line, permuted) in enumerate(zip(table.itertuples(), null, strict=True)):
        if line.splits:
            threshold = critical(permuted, line.level) - line.chance
            found[at] = line.chance + smallest_mean_excess(line.spread, line.splits, threshold=threshold)
    return np.minimum(found, 1.0)


def permuted_detections(study: Study, family: Sequence[str] = SIGNALS) -> Mask:
    """Whether a permuted membership in place of the true one is detected: (signal, setting, permutation).

    By the whole rule of `decisions`: q, corrected in the same way, and the interval over splits above chance.
    """
    settings, permuted = study.settings(), study.values("permuted")
    p = p_values_of_permutations(np.stack([means(permuted[signal], settings) for signal in family]))
    confounded, detected = _confounded(study), np.zeros(p.shape, dtype=bool)
    for chosen in (confounded, ~confounded):
        q = q_values_of_permutations(p[:, chosen].reshape(-1, p.shape[-1]))
        detected[:, chosen] = (q <= LEVEL).reshape(len(family), -1, p.shape[-1])
    return detected & np.stack([_above_chance(permuted[signal], settings, signal) for signal in family])


def _above_chance(permuted: Array, settings: Sequence[NDArray[np.intp]], signal: str) -> Mask:
    """Whether the interval of a permuted membership lies above chance (setting, permutation); (run, permutation)."""
    above = np.zeros((len(settings), permuted.shape[1]), dtype=bool)
    for at, runs in enumerate(settings):
        finite = permuted[runs][~np.isnan(permuted[runs]).any(axis=1)]
        if len(finite) > 1:
            mean = finite.mean(axis=0)
            above[at] = mean - t_half_width(finite) > _chance(mean[None], signal)
    return above


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
            power = {"n": splits, "method": f"power {POWER_OF_MEANS:g} of q <= {LEVEL} and the interval, normal AUCs"}
            yield tidy.row(
                STUDY, keys, "smallest detectable auc", decision["detectable"], null=decision["chance"], **power
            )
        judged = table.assign(labels=[line["labels"] for line, _ in lines])[table["p"].notna()]
        for labels, part in [(CLEAN, judged[judged["labels"] != CONFOUNDED]), *judged.groupby("labels")]:
            yield from _counted(part, {"labels": labels, "signal": signal})
    by_chance = permuted_detections(study)
    yield _detected_by_chance(by_chance[:, ~_confounded(study)])
    yield from probe_misses(pd.DataFrame([line for line, _ in lines]), decided, by_chance)


def _detected_by_chance(permuted: Mask) -> dict[str, Any]:
    """Row of the detections of all signals together under permuted memberships: mean, and where 95 % of them lie."""
    counts = permuted.sum(axis=(0, 1))
    low, high = bootstrap.quantiles(counts, [0.025, 0.975])
    facts = {"n": len(counts), "unit": "settings", "method": "permutations of membership, by the whole rule"}
    keys, name = {"labels": CLEAN, "signal": "any"}, "detections under permutation"
    return tidy.row(STUDY, keys, name, counts.mean(), low=low, high=high, null=0.0, **facts)


def _counted(settings: pd.DataFrame, keys: Mapping[str, Any]) -> Rows:
    """Rows of the number of detected settings, and of the AUC that half of all settings can detect."""
    method = f"q <= {LEVEL}, and the interval above chance"
    found = settings["detected"].sum()
    yield tidy.row(STUDY, keys, "detected settings", found, n=len(settings), unit="settings", method=method)
    facts = {"n": len(settings), "method": "median over settings", "null": settings["chance"].median()}
    yield tidy.row(STUDY, keys, "median smallest detectable auc", settings["detectable"].median(), **facts)
