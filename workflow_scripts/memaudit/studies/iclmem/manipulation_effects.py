"""What single manipulations of the context add to the AUC of the unperturbed baseline (ICLMEM, A.3, Figure 4)."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from memaudit import tidy
from memaudit.arrays import Array
from memaudit.errors import AuditError
from memaudit.studies.iclmem.outcome_rules import COLLAPSE, DETECTABLE
from memaudit.studies.iclmem.outcome_shares import SplitBootstrap, rules
from memaudit.studies.iclmem.run_metrics import ATTACK_SIGNALS, STUDY
from memaudit.studies.iclmem.significance_tests import Study

Rows = Iterator[dict[str, Any]]

BASELINE = "baseline"
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
    for signal in ATTACK_SIGNALS:
        alone = study.null.alone.sel(signal=signal).transpose("run", "manipulation").values.astype(np.float64)
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


def _effect(values: Array, runs: pd.DataFrame, keys: Mapping[str, Any], resampling: SplitBootstrap) -> Rows:
    """Mean of values (run, manipulation); a data set of few labels may lack some manipulations."""
    defined = ~np.isnan(values).all(axis=1)
    if defined.any():
        effect = resampling.mean(np.nanmean(values[defined], axis=1), runs[defined], share=False)
        yield tidy.row(STUDY, keys, "auc effect", **effect, null=0.0)
