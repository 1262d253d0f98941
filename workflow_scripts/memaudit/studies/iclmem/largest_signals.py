"""The settings with the largest AUC and TPR of each data set, tested as the choice of the largest.

ICLMEM, Tables 1, 8, 10, 11 and 12. The paper picks among its two signals, the probe's loss and entropy; beside, each of
all four signals is picked for, and corrected for the choice among all four. Settings where only the members' labels are
shuffled are picked apart and called confounded: there members differ by their labels, too, so that permuted memberships
are no null.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from memaudit.common import tidy
from memaudit.common.arrays import Array
from memaudit.statistics import bootstrap
from memaudit.statistics.detection_power import POWER_OF_MEANS, smallest_mean_excess, smallest_of_largest
from memaudit.statistics.permutation_tests import max_t, max_t_half_widths
from memaudit.studies.iclmem.outcome_rules import COLLAPSE
from memaudit.studies.iclmem.run_metrics import ATTACK_SIGNALS, SIGNALS, STUDY
from memaudit.studies.iclmem.setting_summaries import KEYS, keys_of, resolution, summary
from memaudit.studies.iclmem.significance_tests import CONFOUNDED, LABELS, Study, means

Rows = Iterator[dict[str, Any]]

PEAKS = {
    "regime": ["dataset", "model", "regime"],
    "queries": ["dataset", "model", "regime", "queries"],
    "arm": ["dataset", "settings"],
}
# Families of label conditions by what stands before the name of the peak.
CHOICES = {"": [labels for labels in LABELS if labels != CONFOUNDED], "confounded ": [CONFOUNDED]}
SIGNAL_PEAK = "signal"
REPORTED = {
    "vanilla loss change members": ("loss_change_members", "nats"),
    "vanilla loss change nonmembers": ("loss_change_nonmembers", "nats"),
    "mu_gap": ("mu_gap", "nats"),
    "sigma_gap": ("sigma_gap", "nats"),
}


class Largest(NamedTuple):
    """What the choice of the largest AUC among several settings and signals means for it.

    p: max-T p-value; half: half-width of its simultaneous 95 % interval; null: mean of the largest AUC under permuted
    memberships; detectable: AUC whose p is at most .05 with probability .9; among: number of AUCs; permutations: their
    number.
    """

    p: float
    half: float
    null: float
    detectable: float
    among: int
    permutations: int


class Field(NamedTuple):
    """Settings to pick from. runs: (setting,) places of each; aucs: (setting, signal) of SIGNALS; nulls: the same by
    permutation; rule: column of the published outcome; fprs: of the TPRs.
    """

    study: Study
    runs: Sequence[NDArray[np.intp]]
    aucs: Array
    nulls: Array
    rule: str
    fprs: Sequence[float]

    def only(self, places: NDArray[np.intp]) -> "Field":
        """Some of the settings."""
        runs = [self.runs[place] for place in places]
        return self._replace(runs=runs, aucs=self.aucs[places], nulls=self.nulls[places])


def peaks(study: Study, decided: Mapping[str, pd.DataFrame], fprs: Sequence[float]) -> Rows:
    """Tidy rows of the settings with the largest AUC within each group of PEAKS, and of each signal by regime.

    Key `peak`: the group, on loss or entropy; "confounded" before it where only members' labels are shuffled; "signal":
    the largest of the signal in the regime. Only conditions with the paper's labels are compared. Those that collapsed
    in at least half of their splits are picked only where all did. The max-T p-value, interval, null and power of the
    AUC are over all settings and signals that could have been picked.
    """
    settings, rule = study.settings(), _published(study)
    lines = study.runs.iloc[[runs[0] for runs in settings]].reset_index(drop=True)
    broken = np.array([(study.runs[rule].iloc[runs] == COLLAPSE).mean() >= 0.5 for runs in settings])
    permuted = study.values("permuted")
    aucs = np.stack([decided[signal]["auc"] for signal in SIGNALS], axis=1)
    nulls = np.stack([means(permuted[signal], settings) for signal in SIGNALS], axis=1)
    field = Field(study, settings, aucs, nulls, rule, fprs)
    for kind, labels in CHOICES.items():
        possible = lines["labels"].isin(labels).to_numpy() & ~np.isnan(aucs[:, 0])
        for name, by in PEAKS.items():
            for places in lines[possible].groupby(by, sort=False).groups.values():
                intact = places[~broken[places]]
                compared = field.only(np.asarray(intact if len(intact) else places))
                yield from _picked(compared, ATTACK_SIGNALS, kind + name)
                if kind + name == "regime":
                    yield from _of_signals(compared)


def _published(study: Study) -> str:
    """Column of the outcomes by the first published rule."""
    return study.runs.columns[study.runs.columns.str.startswith("outcome_")][0]


def _picked(field: Field, signals: Sequence[str], name: str) -> Rows:
    """Rows of the setting with the largest AUC of these signals."""
    columns = [SIGNALS.index(signal) for signal in signals]
    aucs = field.aucs[:, columns]
    best = int(np.nanargmax(aucs))
    largest = _largest(aucs.ravel(), field.nulls[:, columns].reshape(aucs.size, -1), best)
    place, signal = np.unravel_index(best, aucs.shape)
    yield from _peak(field, field.runs[place], signals[signal], name, largest)


def _of_signals(field: Field) -> Rows:
    """Rows of the largest AUC of each signal, corrected for the choice among all of them."""
    for at, signal in enumerate(SIGNALS):
        place = int(np.nanargmax(field.aucs[:, at]))
        best = np.ravel_multi_index((place, at), field.aucs.shape)
        largest = _largest(field.aucs.ravel(), field.nulls.reshape(field.aucs.size, -1), int(best))
        yield from _peak(field, field.runs[place], signal, SIGNAL_PEAK, largest)


def _largest(observed: Array, null: Array, best: int) -> Largest:
    """observed: (setting,), null: (setting, permutation), NaN for settings without an AUC."""
    defined = null[~np.isnan(observed)]
    at = np.count_nonzero(~np.isnan(observed[:best]))
    p, half = float(max_t(observed, null)[best]), float(max_t_half_widths(defined)[at])
    detectable = min(1.0, float(smallest_of_largest(defined)[at]))
    return Largest(p, half, float(defined.max(0).mean()), detectable, len(defined), null.shape[1])


def _peak(field: Field, runs: NDArray[np.intp], signal: str, name: str, largest: Largest) -> Rows:
    """Rows of one setting, and the AUC of matched conditions with other labels; key `outcome`: the most frequent."""
    group = field.study.runs.iloc[runs]
    line = group.iloc[0]
    keys = {**keys_of(line), "peak": name, "signal": signal, "outcome": group[field.rule].mode().iloc[0]}
    chance = {"auc": 0.5} | {f"tpr@{fpr:g}": fpr for fpr in field.fprs}
    for metric, null in chance.items():
        mean = summary(group[f"query_{signal}_{metric}"].to_numpy(), 0, 1)
        mean["method"] += resolution(group, metric)
        if metric == "auc":
            mean |= _simultaneous(mean["estimate"], largest)
        yield tidy.row(STUDY, keys, metric, **mean, null=largest.null if metric == "auc" else null)
    for metric, (column, unit) in REPORTED.items():
        yield tidy.row(STUDY, keys, metric, **summary(group[column].to_numpy()), unit=unit)
    facts = {"n": largest.among, "method": f"{largest.permutations} permutations; n: AUCs"}
    yield tidy.row(STUDY, keys, "auc max-T p-value", largest.p, unit="probability", **facts)
    facts["method"] = f"power {POWER_OF_MEANS:g} of max-T p <= .05, {facts['method']}"
    yield tidy.row(STUDY, keys, "smallest detectable largest auc", largest.detectable, null=largest.null, **facts)
    yield from _matched(field.study.runs, line, signal, keys)


def _matched(runs: pd.DataFrame, line: pd.Series, signal: str, keys: Mapping[str, Any]) -> Rows:
    same = ["dataset", "settings", "epoch"]
    for labels, condition in runs[(runs[same] == line[same]).all(axis=1)].groupby("labels", sort=False):
        mean = summary(condition[f"query_{signal}_auc"].to_numpy())
        yield tidy.row(STUDY, keys, f"auc {labels}", **mean, null=0.5)


def _simultaneous(auc: float, largest: Largest) -> dict[str, Any]:
    low, high = np.clip([auc - largest.half, auc + largest.half], 0, 1)
    method = f"max-T over {largest.among} settings and signals, {largest.permutations} permutations of membership"
    return {"low": low, "high": high, "method": f"{method}; null: mean of the largest permuted AUC"}


def tpr_peaks(study: Study, fprs: Sequence[float]) -> Rows:
    """Tidy rows of the largest mean TPR of each data set, model and regime at each FPR, among the paper's two signals.

    Key `peak`: tpr; "confounded tpr" where only members' labels are shuffled; "signal tpr": the largest of each signal
    alone. Among the paper's labels and settings that did not collapse in half of their splits.
    """
    for kind, labels in CHOICES.items():
        runs = study.runs[study.runs["labels"].isin(labels)]
        intact = (runs[_published(study)] != COLLAPSE).groupby([runs[key] for key in KEYS]).transform("mean") > 0.5
        for _, group in runs[intact].groupby(PEAKS["regime"], sort=False):
            for fpr in fprs:
                yield from _largest_tpr(group, fpr, ATTACK_SIGNALS, len(ATTACK_SIGNALS), f"{kind}tpr")
                for signal in SIGNALS if not kind else ():
                    yield from _largest_tpr(group, fpr, (signal,), len(SIGNALS), f"{SIGNAL_PEAK} tpr")


def _largest_tpr(runs: pd.DataFrame, fpr: float, signals: Sequence[str], tested: int, name: str) -> Rows:
    """Rows of the largest mean TPR of these signals over settings, of which `tested` are compared in all.

    The interval, Student's t over splits at level 1 - .05 / m for m settings and signals (Bonferroni), covers with the
    choice of the largest.
    """
    metric = f"tpr@{fpr:g}"
    found = [
        (of[f"query_{signal}_{metric}"].dropna().to_numpy(), of, signal)
        for _, of in runs.groupby(KEYS, sort=False)
        for signal in signals
    ]
    found = [one for one in found if len(one[0]) > 1]
    if not found:
        return
    values, of, signal = max(found, key=lambda one: one[0].mean())
    among = len(found) * tested // len(signals)
    level = 1 - (1 - bootstrap.LEVEL) / among
    low, high = np.clip(bootstrap.t_interval(values, level), 0, 1)
    keys = {**keys_of(of.iloc[0]), "peak": name, "signal": signal}
    method = f"Student's t over {len(values)} splits, Bonferroni for {among} settings and signals"
    facts = {"null": fpr, "n": len(values), "method": method + resolution(of, metric)}
    yield tidy.row(STUDY, keys, metric, values.mean(), low=low, high=high, **facts)
    # TPRs that are all equal vary, too: at least as those of members who are guessed.
    spread = max(values.std(ddof=1), np.sqrt(fpr * (1 - fpr) / of["query_targets"].min()))
    detectable = min(1.0, fpr + smallest_mean_excess(spread, len(values), level=level))
    facts["method"] = f"power {POWER_OF_MEANS:g}, normal TPRs that vary as these; {method}"
    yield tidy.row(STUDY, keys, f"smallest detectable {metric}", detectable, **facts)
