"""Tests over all runs together: the settings in which members are detected (ICLMEM, Table 3).

A signal is detected in a setting if its q-value (Benjamini and Hochberg, over all settings and signals) is at most .05
and the interval of its mean over splits lies above chance. The larger of the paper's two signals, which its rules take,
is a family of its own. Max-T p-values over the epochs of its condition are reported beside. A single one of m AUCs can
be detected with m / .05 permutations: where the runs have fewer, those of a setting's splits are drawn jointly
(`joint_permutations`).

A permutation exchanges a member with a non-member. This assumes that they differ in membership alone. Where only the
members' labels are shuffled they differ in their labels too: such a setting may be detected, above or below one half,
without memorization, and is not under the null. It is corrected apart, so that it does not lower the q-values of
others. Labels that are shuffled for all records, and canaries, are clean comparisons.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
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
    number_no_smaller,
    p_value,
    q_value,
    q_values_of_permutations,
)
from memaudit.statistics.roc import ROUNDING
from memaudit.studies.iclmem.joint_permutations import JointPermutations, SettingNulls
from memaudit.studies.iclmem.outcome_rules import LEVEL
from memaudit.studies.iclmem.probe_misses import probe_misses
from memaudit.studies.iclmem.run_metrics import LARGER, SIGNALS, STUDY, larger
from memaudit.studies.iclmem.setting_summaries import KEYS, keys_of, summary

Rows = Iterator[dict[str, Any]]

FAMILIES = (SIGNALS, (LARGER,))  # signals that are corrected together
CLEAN = "all"  # label conditions but the confounded one
CONFOUNDED = "shuffled_members"  # labels under which members differ by more than their membership
LABELS = ("normal", CONFOUNDED, "shuffled_all")  # of the paper; canaries are reported apart
TIMES = 10  # joint permutations of the observed AUCs, for each that one detection needs
TOGETHER = 4096  # permutations that are corrected at once: of all tests together they take gigabytes


class Study(NamedTuple):
    """All runs of a study: a line each with index 0, 1, ..., and their arrays (`judge_run`) in the same order.

    seed: of the joint permutations of splits.
    """

    runs: pd.DataFrame
    null: xr.Dataset
    seed: int = 0

    def settings(self) -> list[NDArray[np.intp]]:
        """Runs of each setting, splits in order."""
        return [np.sort(places) for places in self.runs.groupby(KEYS, sort=False).indices.values()]

    def values(self, name: str) -> dict[str, Array]:
        """An array (run, ...) of `null` for each signal, and the larger of the paper's two."""
        return {signal: self.of_signal(name, signal) for signal in (*SIGNALS, LARGER)}

    def of_signal(self, name: str, signal: str) -> Array:
        """An array (run, ...) of `null` for one signal, or for the larger of the paper's two."""
        values = self.null[name].transpose("signal", "run", ...).values
        chosen = larger(values) if signal == LARGER else values[SIGNALS.index(signal)]
        return chosen.astype(np.float64)

    def joint(self, times: int = 1) -> JointPermutations:
        """Permutations of all splits together, as many as a single detection among all that are corrected needs."""
        confounded = _confounded(self)
        tests = len(SIGNALS) * int(max(confounded.sum(), (~confounded).sum()))
        return JointPermutations(self.runs, self.null.sizes["permutation"], tests, self.seed, times)

    def nulls(self, signal: str, joint: JointPermutations) -> SettingNulls:
        """AUCs under joint permutations, by setting."""
        values = (self.of_signal(name, signal) for name in ("observed", "permuted"))
        return SettingNulls(joint, *values, self.settings())

    def jointly_permuted(self) -> "Study":
        """Runs with the first joint permutations in place of their own, as many as they have."""
        joint, count = self.joint(), self.null.sizes["permutation"]
        if not joint.drawn:
            return self
        observed = self.null["observed"].transpose("run", "signal").values
        permuted = self.null["permuted"].transpose("run", "signal", "permutation")
        gap = self.null["permuted_gap"].transpose("run", "permutation")
        true_gap, drawn, drawn_gap = self.runs["mu_gap"].to_numpy(), np.empty_like(permuted), np.empty_like(gap)
        for run in range(len(self.runs)):
            drawn[run] = [
                joint.of_run(run, *values, count) for values in zip(observed[run], permuted.values[run], strict=True)
            ]
            drawn_gap[run] = joint.of_run(run, true_gap[run], gap.values[run], count)
        return self._replace(null=self.null.assign(permuted=(permuted.dims, drawn), permuted_gap=(gap.dims, drawn_gap)))


def means(values: Array, settings: Sequence[NDArray[np.intp]]) -> Array:
    """Means (setting, ...) of values (run, ...) over the splits that did not diverge; NaN where all did."""
    averaged = np.full((len(settings), *values.shape[1:]), np.nan)
    for place, runs in enumerate(settings):
        finite = values[runs][~np.isnan(values[runs]).reshape(len(runs), -1).any(axis=1)]
        if len(finite):
            averaged[place] = finite.mean(axis=0)
    return averaged


def decide(observed: Array, nulls: Iterable[Array], settings: Sequence[NDArray[np.intp]], signal: str) -> pd.DataFrame:
    """Table of settings; observed: (run,), nulls: (split, permutation) of each setting, see `SettingNulls`.

    auc; low, of its interval; chance; p; above: whether low is above chance; spread: standard deviation of a permuted
    AUC, a mean over the splits that did not diverge; splits: their number.
    """
    return pd.DataFrame(
        [_decided(observed[runs], null, signal) for runs, null in zip(settings, nulls, strict=True)],
        columns=["auc", "low", "chance", "p", "above", "spread", "splits"],
    )


def _decided(observed: Array, null: Array, signal: str) -> tuple[Any, ...]:
    """Columns of `decide` for one setting; observed: (split,), null: (split, permutation)."""
    if not len(null):
        return np.nan, np.nan, np.nan, np.nan, False, np.nan, 0
    auc, mean = observed[~np.isnan(observed)].mean(), null.mean(axis=0)
    low, chance = summary(observed).get("low", np.nan), _chance(mean, signal)
    return auc, low, chance, float(p_value(auc, mean)), low > chance, null.std(axis=1).mean(), len(null)


def _chance(null: Array, signal: str) -> float:
    """AUC without memory; null: (permutation,), means over splits. The larger of two has a mean above one half."""
    return float(null.mean()) if signal == LARGER else 0.5


def decisions(study: Study) -> dict[str, pd.DataFrame]:
    """`decide` for each signal, with q, detected, `p_epochs`: max-T over the epochs of its condition, and detectable.

    The last is the smallest AUC that is detected with probability .9 beside the other detections of its family, for
    splits that vary as permuted memberships do; 1 where no AUC is.
    """
    settings, joint = study.settings(), study.joint(TIMES)
    nulls = {signal: study.nulls(signal, joint) for signal in (*SIGNALS, LARGER)}
    lines = study.runs.iloc[[runs[0] for runs in settings]].reset_index(drop=True)
    decided = {signal: decide(null.observed, null, settings, signal) for signal, null in nulls.items()}
    decided = corrected(decided, _confounded(study))
    for signal, table in decided.items():
        adjusted, detectable = np.full(len(table), np.nan), np.full(len(table), np.nan)
        for places in lines.groupby(["dataset", "arm"]).indices.values():
            null = np.stack([_mean(nulls[signal].of(place)) for place in places])
            adjusted[places] = max_t(table["auc"].to_numpy()[places], null)
            detectable[places] = _detectable(table.iloc[places], null, joint)
        decided[signal] = table.assign(p_epochs=adjusted, detectable=detectable)
    return decided


def _mean(null: Array) -> Array:
    """Mean (permutation,) over splits (split, permutation), NaN without any."""
    return null.mean(axis=0) if len(null) else np.full(null.shape[1], np.nan)


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
            found = q[:, chosen] <= LEVEL + ROUNDING
            level[:, chosen] = LEVEL * (1 + found.sum() - found) / max(1, np.count_nonzero(~np.isnan(p[:, chosen])))
        for signal, values, of_others in zip(family, q, level, strict=True):
            table = decided[signal]
            detected = (values <= LEVEL + ROUNDING) & table["above"]
            tables[signal] = table.assign(q=values, detected=detected, level=of_others)
    return tables


def _detectable(table: pd.DataFrame, null: Array, joint: JointPermutations) -> Array:
    """AUCs (setting,), see `decisions`; null: (setting, permutation)."""
    found = np.full(len(table), np.nan)
    for at, (line, permuted) in enumerate(zip(table.itertuples(), null, strict=True)):
        if line.splits and joint.smallest_p(line.splits) > line.level + ROUNDING:
            found[at] = 1.0
        elif line.splits:
            threshold = critical(permuted, line.level) - line.chance
            found[at] = line.chance + smallest_mean_excess(line.spread, line.splits, threshold=threshold)
    return np.minimum(found, 1.0)


def permuted_detections(study: Study, family: Sequence[str] = SIGNALS) -> Mask:
    """Whether a permuted membership in place of the true one is detected: (signal, setting, permutation).

    By the whole rule of `decisions`: q, corrected in the same way, and the interval over splits above chance.
    """
    joint, settings = study.joint(), study.settings()
    nulls, count = [study.nulls(signal, joint) for signal in family], joint.count
    no_smaller = np.zeros((len(family), len(settings), count), np.int32)
    detected, defined = np.zeros(no_smaller.shape, np.bool_), np.zeros(no_smaller.shape[:2], np.bool_)
    for of_signal, (signal, of_settings) in enumerate(zip(family, nulls, strict=True)):
        for place, null in enumerate(of_settings):
            if len(null):
                mean = null.mean(axis=0)
                no_smaller[of_signal, place] = number_no_smaller(mean)
                detected[of_signal, place] = _above_chance(null, _chance(mean, signal))
                defined[of_signal, place] = True
    for chosen in (_confounded(study), ~_confounded(study)):
        tests = np.nonzero(defined & chosen)
        for start in range(0, count, TOGETHER):
            part = np.s_[start : start + TOGETHER]
            # In place of the observed one, which is smaller: as `p_values_of_permutations`.
            q = q_values_of_permutations(no_smaller[*tests, part] / (count + 1))
            detected[*tests, part] &= q <= LEVEL + ROUNDING
    return detected


def _above_chance(null: Array, chance: float) -> Mask:
    """Whether the interval of each permutation lies above chance (permutation,); null: (split, permutation)."""
    if len(null) < 2:
        return np.zeros(null.shape[1], np.bool_)
    return null.mean(axis=0) - t_half_width(null) > chance


def decision_rows(study: Study, decided: Mapping[str, pd.DataFrame]) -> Rows:
    """Tidy rows of every setting and signal; settings that diverged in all splits have none."""
    joint = study.joint(TIMES)
    permutations = f"{joint.count} permutations of membership within splits"
    if joint.drawn:
        permutations += f", drawn jointly from {joint.permutations} of each"
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
