"""Dose-response of fine-tuning: which signal tells members at which dose.

An axis is a setting that alone differs: the epochs on the same pairs of context and queries within one condition, or
the learning rate, the number of queries, the copies of the probed members or the number of weights that learn over
several conditions. It is judged over all of its doses and signals together. Where the largest dose is seen by one
signal and missed by another, the second one is blind to what the model has memorized, and its null at smaller doses
says nothing.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from memaudit.common import tidy
from memaudit.common.arrays import Array
from memaudit.statistics import bootstrap
from memaudit.statistics.detection_power import POWER_OF_MEANS, smallest_of_largest
from memaudit.statistics.permutation_tests import max_t, max_t_of_permutations
from memaudit.studies.iclmem.epoch_effects import COMMON
from memaudit.studies.iclmem.outcome_rules import LEVEL
from memaudit.studies.iclmem.run_metrics import IN_CONTEXT, SIGNALS, STUDY
from memaudit.studies.iclmem.setting_summaries import keys_of, summary
from memaudit.studies.iclmem.significance_tests import Study, means

Rows = Iterator[dict[str, Any]]
Places = NDArray[np.intp]

EPOCHS = "epochs"
SHARED = ["dataset", "model", "labels"]  # keys that all conditions of an axis have in common


def dose_response(study: Study, fewest: int) -> Rows:
    """Tidy rows of every signal, and of every condition that was probed at `fewest` epochs or more; axis `epochs`.

    By dose "dose auc", "auc dose p-value" (max-T over doses and signals of the axis, permuted memberships), "smallest
    detectable dose auc" (by that test, with probability .9) and, for the other signals, "auc less in-context" (paired
    by split); by axis, at its last dose, "detected doses" (n: their number), "smallest detected dose" and "largest
    undetected dose", NaN if there is none.
    """
    for _, group in study.runs.groupby(COMMON, sort=False):
        doses = {epoch: group.index[group["epoch"] == epoch].to_numpy() for epoch in sorted(group["epoch"].unique())}
        if len(doses) >= fewest:
            keys = {**keys_of(group.iloc[0], COMMON), "records": "query", "axis": EPOCHS}
            yield from _of_axis(study, keys, doses)


def dose_axes(study: Study, axes: Mapping[str, Sequence[str]]) -> Rows:
    """The rows of `dose_response` for axes over conditions, at the last epoch that all of an axis are probed at.

    axes: conditions (arms) by the setting that alone differs, a column of the runs. Data sets that lack one of them
    have no rows.
    """
    for axis, arms in axes.items():
        chosen = study.runs[study.runs["arm"].isin(arms)]
        for _, group in chosen.groupby("dataset", sort=False):
            probed = [set(own["epoch"]) for _, own in group.groupby("arm")]
            if len(probed) < len(arms):
                continue
            last = group[group["epoch"] == max(set.intersection(*probed))]
            doses = {dose: own.index.to_numpy() for dose, own in last.groupby(axis)}
            keys = {**keys_of(last.iloc[0], [*SHARED, "epoch"]), "records": "query", "axis": axis}
            yield from _of_axis(study, keys, doses)


def _of_axis(study: Study, keys: dict[str, str], doses: Mapping[float, Places]) -> Rows:
    """Rows of one axis; doses: their runs, in the order of the doses."""
    observed, permuted = study.values("observed"), study.values("permuted")
    settings = list(doses.values())
    aucs = np.stack([means(observed[signal], settings) for signal in SIGNALS])
    nulls = np.stack([means(permuted[signal], settings) for signal in SIGNALS])
    flat = nulls.reshape(aucs.size, -1)
    p = max_t(aucs.ravel(), flat).reshape(aucs.shape)
    shown = np.full(aucs.size, np.nan)
    defined = ~np.isnan(aucs.ravel())
    shown[defined] = np.minimum(smallest_of_largest(flat[defined]), 1.0)
    method = f"max-T over {aucs.size} doses and signals, {flat.shape[1]} permutations of membership"
    for signal, of_signal, power in zip(SIGNALS, p, shown.reshape(aucs.shape), strict=True):
        yield from _of_signal({**keys, "signal": signal}, np.array(list(doses), np.float64), of_signal, power, method)
    yield _by_chance(_at(keys, list(doses)[-1]), flat)
    for dose, runs in doses.items():
        yield from _aucs(study.runs.loc[runs], _at(keys, dose))


def _at(keys: Mapping[str, str], dose: float) -> dict[str, str]:
    """The keys of a dose; on the axis of epochs that is the epoch, too."""
    return {**keys, "dose": f"{dose:g}"} | ({"epoch": f"{dose:g}"} if keys["axis"] == EPOCHS else {})


def _of_signal(keys: dict[str, str], doses: Array, p: Array, power: Array, method: str) -> Rows:
    """Rows of one signal; p, power: (dose,), NaN where all splits diverged."""
    for dose, value, shown in zip(doses, p, power, strict=True):
        if not np.isnan(value):
            yield tidy.row(STUDY, _at(keys, dose), "auc dose p-value", value, unit="probability", method=method)
            facts = {"method": f"power {POWER_OF_MEANS:g} of p <= {LEVEL} by {method}", "null": 0.5}
            yield tidy.row(STUDY, _at(keys, dose), "smallest detectable dose auc", shown, **facts)
    at, seen, method = _at(keys, doses[-1]), p <= LEVEL, f"p <= {LEVEL} by {method}"
    facts = {"n": len(doses), "method": f"power {POWER_OF_MEANS:g} of {method}", "null": 0.5}
    yield tidy.row(STUDY, at, "median smallest detectable dose auc", np.nanmedian(power), **facts)
    yield tidy.row(STUDY, at, "detected doses", seen.sum(), n=len(doses), unit="doses", method=method)
    for name, chosen in (("smallest detected dose", doses[seen][:1]), ("largest undetected dose", doses[~seen][-1:])):
        value = chosen[0] if len(chosen) else np.nan
        yield tidy.row(STUDY, at, name, value, n=len(doses), unit=keys["axis"].replace("_", " "), method=method)


def _by_chance(keys: dict[str, str], nulls: Array) -> dict[str, Any]:
    """Row of the doses of all signals that are detected under permuted memberships; nulls: (dose, permutation)."""
    counts = (max_t_of_permutations(nulls) <= LEVEL).sum(axis=0)
    low, high = bootstrap.quantiles(counts, [0.025, 0.975])
    facts = {
        "n": len(counts),
        "unit": "doses",
        "method": "permutations of membership; mean, and where 95 % of them lie",
    }
    at, name = {**keys, "signal": "any"}, "detected doses under permutation"
    return tidy.row(STUDY, at, name, counts.mean(), low=low, high=high, null=0.0, **facts)


def _aucs(runs: pd.DataFrame, keys: dict[str, str]) -> Rows:
    """Rows of the AUC of each signal, and of it less that of the loss in the context of the fine-tuning."""
    for signal in SIGNALS:
        at = {**keys, "signal": signal}
        yield tidy.row(STUDY, at, "dose auc", **summary(runs[f"query_{signal}_auc"].to_numpy(), 0, 1), null=0.5)
        gap = (runs[f"query_{signal}_auc"] - runs[f"query_{IN_CONTEXT}_auc"]).to_numpy()
        if signal == IN_CONTEXT or np.isnan(gap).all():
            continue
        facts = summary(gap, -1, 1)
        facts["method"] += ", paired"
        yield tidy.row(STUDY, at, "auc less in-context", **facts, null=0.0)
