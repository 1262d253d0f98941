"""Exposure of planted labels in the context of the fine-tuning: members' canaries against non-members' (Carlini 2019).

Labels are planted where they are canaries, the least probable ones by the base model, or shuffled for all. Non-members
have labels that were planted in the same way but that the model was never trained on: they show the exposure without
memorization, which of canaries is low at first, since they were not drawn at random. The candidates are all classes, or
all numbers of the table.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from memaudit.common import tidy
from memaudit.common.arrays import Array
from memaudit.statistics.permutation_tests import max_t
from memaudit.studies.iclmem.run_metrics import STUDY, RunSignals, SplitDraws, group_gaps
from memaudit.studies.iclmem.setting_summaries import KEYS, detectable_mean, keys_of, summary

Rows = Iterator[dict[str, Any]]

GROUPS = ("query", "nonmember")


def run_exposure(run: RunSignals, draws: SplitDraws) -> tuple[dict[str, float], Array]:
    """Mean exposures of a run by name, in bits, and its difference under permuted memberships (permutation,).

    Facts: exposure_query, exposure_nonmember, the same of the base model, exposure_gap (members less non-members). All
    are NaN where the run diverged.
    """
    values = {"exposure": run.exposure, "base_exposure": run.base_exposure}
    facts = {f"{name}_{group}": of[getattr(run, group)].mean() for name, of in values.items() for group in GROUPS}
    facts["exposure_gap"] = facts["exposure_query"] - facts["exposure_nonmember"]
    attacked = run.query | run.nonmember
    return facts, group_gaps(run.exposure[attacked], draws.on(attacked).permuted(run.query[attacked]))


def exposure_rows(runs: pd.DataFrame, permuted: Sequence[Array], labels: Sequence[str]) -> Rows:
    """Tidy rows of the conditions with planted labels, by epoch; runs, permuted: a line, and `run_exposure`, each;
    labels: label conditions with planted labels.

    Exposures are means over splits; their difference is paired by split, with the smallest one that its interval shows
    with probability .9; p is of permuted memberships, corrected over the epochs of the condition (max-T).
    """
    planted = runs.reset_index(drop=True)
    planted = planted[planted["labels"].isin(labels)]
    for _, condition in planted.groupby(["dataset", "arm"], sort=False):
        groups = [(group, _null(group, permuted)) for _, group in condition.groupby(KEYS, sort=False)]
        observed = np.array([group["exposure_gap"].mean() for group, _ in groups])
        for (group, null), p in zip(groups, max_t(observed, np.stack([null for _, null in groups])), strict=True):
            if not np.isnan(p):
                yield from _of_setting(
                    group, p, f"max-T over {len(groups)} epochs, {len(null)} permutations of membership"
                )


def _null(group: pd.DataFrame, permuted: Sequence[Array]) -> Array:
    """Mean difference (permutation,) over the splits that did not diverge; NaN where all did."""
    kept = [permuted[at] for at in group.index if not np.isnan(permuted[at]).any()]
    return np.mean(kept, axis=0) if kept else np.full(len(permuted[0]), np.nan)


def _of_setting(group: pd.DataFrame, p: float, method: str) -> Rows:
    keys, most = keys_of(group.iloc[0]), float(np.log2(group["exposure_candidates"].iloc[0]))
    bits = {"unit": "bits"}
    for records in GROUPS:
        for metric, column in {"exposure": "exposure", "exposure of the base": "base_exposure"}.items():
            mean = summary(group[f"{column}_{records}"].to_numpy(), 0, most)
            yield tidy.row(STUDY, {**keys, "records": records}, metric, **mean, **bits)
    gap = group["exposure_gap"].to_numpy()
    facts = summary(gap, -most, most)
    facts["method"] += ", paired"
    at = {**keys, "records": "query"}
    yield tidy.row(STUDY, at, "exposure less non-members", **facts, **bits, null=0.0)
    yield detectable_mean(at, gap, "smallest detectable exposure") | bits
    yield tidy.row(STUDY, at, "exposure p-value", p, unit="probability", n=len(gap), method=method)
    facts = {"n": int(group["exposure_candidates"].iloc[0]), "method": "log2 of the candidate labels; n: their number"}
    yield tidy.row(STUDY, at, "largest possible exposure", most, **facts, **bits)
