"""Change of each signal by a defence, with the change of utility, against the same arm without it, paired by split."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from memaudit.common import tidy
from memaudit.common.arrays import Array
from memaudit.studies.iclmem.run_metrics import SIGNALS, STUDY
from memaudit.studies.iclmem.setting_summaries import detectable_mean, keys_of, summary

Rows = Iterator[dict[str, Any]]

COMMON = ["dataset", "model", "labels", "learning_rate", "queries"]
KINDS = {"lora": "lora", "private": "dp-sgd", "smoothed": "label smoothing"}
FEWER, STOPPED = "fewer epochs", "early stopping"
HELD_OUT, CHANGE = "held_out_loss", "loss_change_nonmembers"
SMALLEST = "smallest detectable defence difference"


def defence_effects(runs: pd.DataFrame) -> Rows:
    """Tidy rows of every defence of every arm that is compared: with it less without it; runs: a line per run.

    Arms with `against` are compared at the last epoch that both are probed at. In the arms that they are compared with,
    `fewer epochs` are the first probed epoch, and `early stopping` the probed epoch with the lowest loss of held-out
    records in each split; both are compared with the last epoch of the same run. Metrics: "defence auc difference" by
    signal; "defence accuracy difference" (or r2) and "defence loss difference" of non-members in the context of the
    fine-tuning, with true labels; each with the smallest difference that its interval, Student's t over splits, shows.
    """
    defended = runs[runs["against"].notna()]
    for (dataset, arm), own in defended.groupby(["dataset", "arm"], sort=False):
        other = runs[(runs["dataset"] == dataset) & (runs["arm"] == own["against"].iloc[0])]
        if shared := set(own["epoch"]) & set(other["epoch"]):
            last = max(shared)
            kind = next(name for key, name in KINDS.items() if key in own["regime"].iloc[0].split())
            yield from _compared(own[own["epoch"] == last], other[other["epoch"] == last], kind, arm)
    compared = (
        runs[["dataset", "arm"]]
        .apply(tuple, axis=1)
        .isin(set(zip(*(defended[key] for key in ("dataset", "against")), strict=True)))
    )
    for (_, arm), own in runs[compared].groupby(["dataset", "arm"], sort=False):
        first, last = own["epoch"].min(), own["epoch"].max()
        if first == last:
            continue
        at_end = own[own["epoch"] == last]
        yield from _compared(own[own["epoch"] == first], at_end, FEWER, arm)
        if own[HELD_OUT].notna().all():
            yield from _compared(own.loc[own.groupby("split")[HELD_OUT].idxmin()], at_end, STOPPED, arm)


def _compared(defended: pd.DataFrame, plain: pd.DataFrame, kind: str, arm: str) -> Rows:
    """Rows of one defence; a line per split of each. Splits in which one of the two diverged are left out."""
    pairs = defended.merge(plain, on="split", suffixes=("", "_plain"))
    pairs = pairs[~(pairs["diverged"] | pairs["diverged_plain"]).astype(bool)]
    keys = {**keys_of(plain.iloc[0], COMMON), "arm": arm, "against": str(plain["arm"].iloc[0]), "defence": kind}
    keys["epoch"] = f"{plain['epoch'].iloc[0]:g}"

    def gap(column: str) -> Array:
        return (pairs[column] - pairs[f"{column}_plain"]).to_numpy(np.float64)

    quality = "r2" if plain["task"].iloc[0] == "regression" else "accuracy"
    of_signals = [("auc", f"query_{signal}_auc", "fraction", {"signal": signal}) for signal in SIGNALS]
    of_others = [(quality, "quality", "fraction", {"of": quality}), ("loss", CHANGE, "nats", {"of": "loss"})]
    for metric, column, unit, named in (*of_signals, *of_others):
        at = {**keys, "records": "query" if metric == "auc" else "nonmembers", **named}
        facts = summary(values := gap(column))
        facts["method"] += ", paired"
        yield tidy.row(STUDY, at, f"defence {metric} difference", **facts, unit=unit, null=0.0)
        yield detectable_mean(at, values, SMALLEST)
