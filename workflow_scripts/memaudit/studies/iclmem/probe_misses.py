"""Members that the loss in context detects and the probe does not, though it could (ICLMEM)."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from memaudit.common import tidy
from memaudit.common.arrays import Array, Mask
from memaudit.studies.iclmem.run_metrics import IN_CONTEXT, PROBED, SIGNALS, STUDY
from memaudit.studies.iclmem.setting_summaries import KEYS, detectable_mean, paired_rows, summary

Rows = Iterator[dict[str, Any]]

MISSES, MISSES_NONE = "misses", "misses none"


def probe_misses(lines: pd.DataFrame, decided: Mapping[str, pd.DataFrame], permuted: Mask) -> Rows:
    """Tidy rows of "missed by the probe" and "seen by the probe", by data set and labels; lines: a line per setting.

    Of the settings whose members the loss in the context of the fine-tuning detects (n; none have no rows), those that
    a signal of the probe detects are seen. Missed are those that no signal detects, though the AUC in context is larger
    than what each of them would detect with probability .9. null: their mean number under permuted memberships, whose
    detections are `permuted` (signal, setting, permutation). Key `probe`: whether it misses a setting.
    """
    auc = decided[IN_CONTEXT]["auc"].to_numpy()
    able = auc > np.max([decided[signal]["detectable"] for signal in PROBED], axis=0)
    counted = _counted({signal: decided[signal]["detected"].to_numpy(bool) for signal in SIGNALS}, able)
    by_chance = _counted(dict(zip(SIGNALS, permuted, strict=True)), able[:, None])
    for (dataset, labels), places in lines.reset_index(drop=True).groupby(["dataset", "labels"]).groups.items():
        own = np.asarray(places)
        if not (found := decided[IN_CONTEXT]["detected"].to_numpy(bool)[own].sum()):
            continue
        misses = MISSES if counted["missed"][own].any() else MISSES_NONE
        keys = {"dataset": dataset, "labels": labels, "probe": misses}
        for name, settings in counted.items():
            facts = {"n": found, "unit": "settings", "null": by_chance[name][own].sum(axis=0).mean()}
            yield tidy.row(STUDY, keys, f"{name} by the probe", settings[own].sum(), method="counted", **facts)


def _counted(detected: Mapping[str, Array], able: Mask) -> dict[str, Mask]:
    """Settings (setting, ...) that the loss in context detects: those that the probe misses, and those that it sees."""
    probe = np.any([detected[signal] for signal in PROBED], axis=0)
    return {"missed": detected[IN_CONTEXT] & ~probe & able, "seen": detected[IN_CONTEXT] & probe}


def mean_aucs(runs: pd.DataFrame) -> Rows:
    """Tidy rows of the mean AUC of each signal over all settings of a data set and labels, and of it less in context.

    No setting is picked for its size; those that diverged in some split are left out. Intervals are over splits.
    """
    columns = [f"query_{signal}_auc" for signal in SIGNALS]
    for (dataset, labels), group in runs.groupby(["dataset", "labels"], sort=False):
        whole = group.groupby(KEYS, sort=False)["diverged"].transform("any").astype(bool)
        by_split = group[~whole].groupby("split")[columns].mean()
        if by_split.empty:
            continue
        in_context = by_split[f"query_{IN_CONTEXT}_auc"].to_numpy()
        for signal, column in zip(SIGNALS, columns, strict=True):
            keys, values = {"dataset": dataset, "labels": labels, "signal": signal}, by_split[column].to_numpy()
            yield tidy.row(STUDY, keys, "mean auc", **summary(values, 0, 1), null=0.5)
            yield detectable_mean(keys, values, "smallest detectable mean auc", 0.5)
            if signal in PROBED:
                yield from paired_rows(keys, "mean auc less in-context", values - in_context)
