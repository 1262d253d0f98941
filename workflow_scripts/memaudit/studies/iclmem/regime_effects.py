"""Change of the AUC by joint fine-tuning, paired by split (ICLMEM, Table 12, Appendix D)."""

from collections.abc import Iterator
from typing import Any

import pandas as pd

from memaudit.studies.iclmem.run_metrics import SIGNALS
from memaudit.studies.iclmem.setting_summaries import keys_of, paired_rows

COMMON = ["dataset", "model", "labels", "learning_rate", "queries", "epoch"]
SINGLE = "single fixed"
JOINT = ("joint fixed", "joint random")


def regime_effects(runs: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Tidy rows of the AUC of each signal under joint less single-table fine-tuning, by setting; runs: a line per run.

    Both are fine-tuned and attacked on the same members and non-members of a split, so that a lucky split cancels; the
    interval is Student's t over the differences of the splits that both have.
    """
    for _, group in runs.groupby(COMMON, sort=False):
        of = {regime: own.groupby("split") for regime, own in group.groupby("regime")}
        for regime in JOINT:
            if regime not in of or SINGLE not in of:
                continue
            keys = {**keys_of(group.iloc[0], COMMON), "regime": f"{regime} - {SINGLE}", "records": "query"}
            for signal in SIGNALS:
                joint, single = (of[name][f"query_{signal}_auc"].mean() for name in (regime, SINGLE))
                gap = (joint - single).dropna().to_numpy()
                yield from paired_rows({**keys, "signal": signal}, "regime auc difference", gap)
