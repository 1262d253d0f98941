"""Loss of AUC where the labels of the fine-tuning are shuffled, paired by record and split (ICLMEM, Table 3)."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from memaudit.common import seeds, tidy
from memaudit.common.arrays import Array
from memaudit.statistics import bootstrap
from memaudit.statistics.detection_power import POWER_OF_MEANS, smallest_shown
from memaudit.studies.iclmem.run_metrics import SIGNALS, STUDY
from memaudit.studies.iclmem.setting_summaries import keys_of
from memaudit.studies.iclmem.significance_tests import Study


class LabelEffect(NamedTuple):
    """The AUC of a setting with normal labels less that with others.

    rows: tidy; labels: the others; signal; compared: runs with normal labels; normal, other: (split,) matched runs that
    did not diverge; low: of the interval of the mean difference; below: from the mean down to it.
    """

    rows: list[dict[str, Any]]
    labels: str
    signal: str
    compared: NDArray[np.intp]
    normal: NDArray[np.intp]
    other: NDArray[np.intp]
    low: float
    below: float


def label_effects(study: Study, seed: int) -> Iterator[LabelEffect]:
    """Effects of every signal: the difference of AUCs at the same settings and epoch, on the same records.

    Its interval resamples records (common weights) and splits. Above 0 the signal "weakens materially" (Table 3).
    """
    for _, matched in study.runs.groupby(["dataset", "settings", "epoch"], sort=False):
        conditions = dict(list(matched.groupby("labels", sort=False)))
        normal = conditions.pop("normal", None)
        for other in conditions.values() if normal is not None else ():
            for signal in SIGNALS:
                yield _effect(study, normal, other, signal, seed)


def _effect(study: Study, normal: pd.DataFrame, other: pd.DataFrame, signal: str, seed: int) -> LabelEffect:
    line, labels = normal.iloc[0], other["labels"].iloc[0]
    keys = {**keys_of(line), "labels": f"normal - {labels}", "records": "query", "signal": signal}
    pairs = normal.reset_index().merge(other.reset_index(), on="split")
    pairs = pairs[~(pairs["diverged_x"] | pairs["diverged_y"]).astype(bool)]
    first, second = (pairs[f"index_{suffix}"].to_numpy(dtype=np.intp) for suffix in "xy")
    about = labels, signal, normal.index.to_numpy(), first, second
    if pairs.empty:
        row = tidy.row(STUDY, keys, "auc difference", np.nan, method="all splits diverged")
        return LabelEffect([row], *about, np.nan, np.nan)
    observed, samples = (study.null[name].sel(signal=signal).values for name in ("observed", "bootstrapped"))
    gap, drawn = observed[first] - observed[second], samples[first] - samples[second]
    low, high = _interval(gap, drawn, seeds.generator(seed, STUDY, line["dataset"], "splits"))
    method = f"paired bootstrap of records and of {len(gap)} splits, {drawn.shape[1]} replicates"
    facts = {"low": low, "high": high, "n": len(gap), "method": method, "null": 0.0}
    rows = [tidy.row(STUDY, keys, "auc difference", gap.mean(), **facts)]
    facts = {"n": len(gap), "method": f"power {POWER_OF_MEANS:g}, {method}", "null": 0.0}
    shown = smallest_shown(float(gap.mean()), low, high)
    rows.append(tidy.row(STUDY, keys, "smallest detectable difference", shown, **facts))
    return LabelEffect(rows, *about, low, float(gap.mean()) - low)


def _interval(gap: Array, drawn: Array, rng: np.random.Generator) -> tuple[float, float]:
    """Of the mean of gap (split,); drawn: (split, replicate)."""
    weights = bootstrap.two_way_weights(1, len(gap), drawn.shape[1], rng).records
    return bootstrap.mean_of_units(gap, drawn, weights, -1, 1)
