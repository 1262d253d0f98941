"""Dose-response of a fine-tuning condition: which signal tells members after how many epochs on them.

The dose is the number of epochs on the same pairs of context and queries. A condition is
judged over all of its doses and signals together. Where the largest dose is seen by one signal and missed by
another, the second one is blind to what the model has memorized, and its null at smaller doses says nothing.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from memaudit.common import tidy
from memaudit.common.arrays import Array
from memaudit.statistics import bootstrap
from memaudit.statistics.permutation_tests import max_t, max_t_of_permutations
from memaudit.studies.iclmem.epoch_effects import COMMON
from memaudit.studies.iclmem.outcome_rules import LEVEL
from memaudit.studies.iclmem.run_metrics import IN_CONTEXT, SIGNALS, STUDY
from memaudit.studies.iclmem.setting_summaries import keys_of, summary
from memaudit.studies.iclmem.significance_tests import Study, means

Rows = Iterator[dict[str, Any]]


def dose_response(study: Study, fewest: int) -> Rows:
    """Tidy rows of every signal, and of every condition that was probed at `fewest` epochs or more.

    By epoch "dose auc", "auc dose p-value" (max-T over epochs and signals of the condition, permuted memberships) and,
    for the other signals, "auc less in-context" (paired by split); by condition, at its last epoch, "detected doses"
    (n: their number), "smallest detected dose" and "largest undetected dose", both in epochs, NaN if there is none.
    """
    observed, permuted = study.values("observed"), study.values("permuted")
    for _, group in study.runs.groupby(COMMON, sort=False):
        epochs = sorted(group["epoch"].unique())
        if len(epochs) < fewest:
            continue
        settings = [group.index[group["epoch"] == epoch].to_numpy() for epoch in epochs]
        aucs = np.stack([means(observed[signal], settings) for signal in SIGNALS])
        nulls = np.stack([means(permuted[signal], settings) for signal in SIGNALS])
        p = max_t(aucs.ravel(), nulls.reshape(aucs.size, -1)).reshape(aucs.shape)
        keys = {**keys_of(group.iloc[0], COMMON), "records": "query"}
        for signal, values in zip(SIGNALS, p, strict=True):
            yield from _of_signal({**keys, "signal": signal}, epochs, values, nulls.shape[-1])
        yield _by_chance(keys, epochs, nulls.reshape(aucs.size, -1))
        yield from _by_epoch(group, keys)


def _of_signal(keys: dict[str, str], epochs: list[int], p: Array, permutations: int) -> Rows:
    """Rows of one signal; p: (epoch,), NaN where all splits diverged."""
    method = f"max-T over {len(epochs) * len(SIGNALS)} doses and signals, {permutations} permutations of membership"
    for epoch, value in zip(epochs, p, strict=True):
        if not np.isnan(value):
            at = {**keys, "epoch": f"{epoch:g}"}
            yield tidy.row(STUDY, at, "auc dose p-value", value, unit="probability", method=method)
    doses, seen = np.array(epochs, np.float64), p <= LEVEL
    at, method = {**keys, "epoch": f"{epochs[-1]:g}"}, f"p <= {LEVEL} by {method}"
    yield tidy.row(STUDY, at, "detected doses", seen.sum(), n=len(doses), unit="doses", method=method)
    for name, chosen in (("smallest detected dose", doses[seen][:1]), ("largest undetected dose", doses[~seen][-1:])):
        value = chosen[0] if len(chosen) else np.nan
        yield tidy.row(STUDY, at, name, value, n=len(doses), unit="epochs", method=method)


def _by_chance(keys: dict[str, str], epochs: list[int], nulls: Array) -> dict[str, Any]:
    """Row of the doses of all signals that are detected under permuted memberships; nulls: (dose, permutation)."""
    counts = (max_t_of_permutations(nulls) <= LEVEL).sum(axis=0)
    low, high = bootstrap.quantiles(counts, [0.025, 0.975])
    at, name = {**keys, "signal": "any", "epoch": f"{epochs[-1]:g}"}, "detected doses under permutation"
    method = "permutations of membership; mean, and where 95 % of them lie"
    facts = {"n": len(counts), "unit": "doses", "method": method}
    return tidy.row(STUDY, at, name, counts.mean(), low=low, high=high, null=0.0, **facts)


def _by_epoch(group: pd.DataFrame, keys: dict[str, str]) -> Rows:
    """Rows of the AUC of each signal, and of it less that of the loss in the context of the fine-tuning."""
    for epoch, runs in group.groupby("epoch"):
        for signal in SIGNALS:
            at = {**keys, "epoch": f"{epoch:g}", "signal": signal}
            yield tidy.row(STUDY, at, "dose auc", **summary(runs[f"query_{signal}_auc"].to_numpy(), 0, 1), null=0.5)
            gap = (runs[f"query_{signal}_auc"] - runs[f"query_{IN_CONTEXT}_auc"]).to_numpy()
            if signal == IN_CONTEXT or np.isnan(gap).all():
                continue
            facts = summary(gap, -1, 1)
            facts["method"] += ", paired"
            yield tidy.row(STUDY, at, "auc less in-context", **facts, null=0.0)
