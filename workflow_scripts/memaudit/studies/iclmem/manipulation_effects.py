"""Effect of single manipulations of the context on the AUC, against the baseline (ICLMEM, A.3, Figure 4)."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from memaudit.common import tidy
from memaudit.common.arrays import Array
from memaudit.common.errors import AuditError
from memaudit.studies.iclmem.outcome_rules import COLLAPSE, DETECTABLE
from memaudit.studies.iclmem.outcome_shares import SplitBootstrap, rules
from memaudit.studies.iclmem.run_metrics import PROBED, STUDY
from memaudit.studies.iclmem.significance_tests import Study

Rows = Iterator[dict[str, Any]]

BASELINE = "baseline"
SKEW = "skew_true_target"  # the strongest category of the paper, which is compared with the others
ALL = "all"


def manipulation_rows(study: Study, resampling: SplitBootstrap) -> Rows:
    """Tidy rows of the effect of each manipulation alone and of each category.

    Key `runs`: all that did not collapse, or those that the rule of that name finds detectable. Raises AuditError
    unless exactly one manipulation is of category "baseline".
    """
    names = study.null.manipulation.values.astype(str)
    categories = np.array([name.partition(": ")[0] for name in names])
    baseline = np.flatnonzero(np.char.lower(categories) == BASELINE)
    if len(baseline) != 1:
        raise AuditError(f"iclmem: {len(baseline)} manipulations are of category {BASELINE}, not one; fix the suite")
    chosen = {ALL: study.runs["outcome_" + rules(study.runs)[0]] != COLLAPSE}
    chosen |= {rule: study.runs[f"outcome_{rule}"] == DETECTABLE for rule in rules(study.runs)}
    for signal in PROBED:
        alone = study.null.alone.sel(probe_signal=signal).transpose("run", "manipulation").values.astype(np.float64)
        effect = alone - alone[:, baseline]
        parts = {("manipulation", name): effect[:, [i]] for i, name in enumerate(names)}
        parts |= {("category", name): effect[:, categories == name] for name in dict.fromkeys(categories)}
        for kind, runs in chosen.items():
            for model, group in study.runs[runs].groupby("model"):
                keys = {"model": model, "runs": kind, "signal": signal}
                base = resampling.mean(alone[group.index, baseline[0]], group, share=False)
                yield tidy.row(STUDY, keys, "auc of the baseline", **base, null=0.5)
                for (key, name), values in parts.items():
                    yield from _effect(values[group.index], group, {**keys, key: name}, resampling)
                by_category = {name: values[group.index] for (key, name), values in parts.items() if key == "category"}
                yield from _differences(by_category, group, keys, resampling)


def _differences(
    effects: Mapping[str, Array], runs: pd.DataFrame, keys: Mapping[str, Any], resampling: SplitBootstrap
) -> Rows:
    """Mean effect of skewing to the true label less that of each other category, on the runs that have both."""
    if SKEW not in effects:
        return
    means = {name: pd.DataFrame(values).mean(axis=1).to_numpy() for name, values in effects.items()}
    for name in (name for name in means if name.lower() not in (SKEW, BASELINE)):
        gap = means[SKEW] - means[name]
        defined = ~np.isnan(gap)
        if defined.any():
            mean = resampling.mean(gap[defined], runs[defined], share=False)
            named = {**keys, "category": f"{SKEW} - {name}"}
            yield tidy.row(STUDY, named, "auc effect difference", **mean, null=0.0)


def _effect(values: Array, runs: pd.DataFrame, keys: Mapping[str, Any], resampling: SplitBootstrap) -> Rows:
    """Mean of values (run, manipulation); a data set of few labels may lack some manipulations."""
    defined = ~np.isnan(values).all(axis=1)
    if defined.any():
        effect = resampling.mean(np.nanmean(values[defined], axis=1), runs[defined], share=False)
        yield tidy.row(STUDY, keys, "auc effect", **effect, null=0.0)
