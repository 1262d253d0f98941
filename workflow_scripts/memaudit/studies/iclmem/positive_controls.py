"""Positive controls: whether each signal has fired where the members are in the weights (ICLMEM, no counterpart)."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from memaudit.common import tidy
from memaudit.statistics.detection_power import POWER_OF_MEANS, smallest_of_largest
from memaudit.statistics.permutation_tests import max_t
from memaudit.studies.iclmem.outcome_rules import LEVEL
from memaudit.studies.iclmem.run_metrics import SIGNALS, STUDY
from memaudit.studies.iclmem.setting_summaries import KEYS, keys_of, summary
from memaudit.studies.iclmem.significance_tests import Study, means

FIRED, SILENT = "yes", "no"


def positive_controls(study: Study) -> Iterator[dict[str, Any]]:
    """Tidy rows of every signal of every positive control, at its last epoch; study: of positive controls alone.

    "positive control auc", null: chance; "positive control p-value", max-T over the signals, permuted memberships; and
    "smallest detectable control auc", by that test with probability .9. Key `fired`: whether p is at most .05.
    """
    observed, permuted = study.values("observed"), study.values("permuted")
    for _, group in study.runs.groupby([key for key in KEYS if key != "epoch"], sort=False):
        last = group[group["epoch"] == group["epoch"].max()]
        places = [last.index.to_numpy()]
        aucs = np.concatenate([means(observed[signal], places) for signal in SIGNALS])
        nulls = np.concatenate([means(permuted[signal], places) for signal in SIGNALS])
        if np.isnan(aucs).any():  # all splits diverged
            continue
        method = f"max-T over {len(SIGNALS)} signals, {nulls.shape[1]} permutations of membership"
        power = f"power {POWER_OF_MEANS:g} of p <= {LEVEL} by {method}"
        for signal, p, shown in zip(SIGNALS, max_t(aucs, nulls), smallest_of_largest(nulls), strict=True):
            keys = {**keys_of(last.iloc[0]), "records": "query", "signal": signal}
            keys["fired"] = FIRED if p <= LEVEL else SILENT
            values = last[f"query_{signal}_auc"].to_numpy()
            yield tidy.row(STUDY, keys, "positive control auc", **summary(values, 0, 1), null=0.5)
            yield tidy.row(STUDY, keys, "positive control p-value", p, n=len(last), unit="probability", method=method)
            facts = {"n": len(last), "method": power, "null": 0.5}
            yield tidy.row(STUDY, keys, "smallest detectable control auc", min(shown, 1.0), **facts)
