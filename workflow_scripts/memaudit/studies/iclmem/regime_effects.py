"""Change of the AUC by joint fine-tuning, paired by split (ICLMEM, Table 12, Appendix D)."""

from collections.abc import Iterator
from typing import Any

import pandas as pd

from memaudit.common import tidy
from memaudit.studies.iclmem.run_metrics import STUDY
from memaudit.studies.iclmem.setting_summaries import keys_of, summary

COMMON = ["dataset", "model", "labels", "learning_rate", "queries", "epoch"]
SINGLE = "single fixed"
JOINT = ("joint fixed", "joint random")


def regime_effects(runs: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Tidy rows of the AUC on the loss under joint less single-table fine-tuning, by setting; runs: a line per run.

    Both are fine-tuned and attacked on the same members and non-members of a split, so that a lucky split cancels; the
    interval is Student's t over the differences of the splits that both have.
    """
    for _, group in runs.groupby(COMMON, sort=False):
        of = {regime: own.set_index("split")["query_loss_auc"] for regime, own in group.groupby("regime")}
        for regime in JOINT:
            if regime not in of or SINGLE not in of:
                continue
            gap = (of[regime].groupby("split").mean() - of[SINGLE].groupby("split").mean()).dropna()
            keys = {**keys_of(group.iloc[0], COMMON), "regime": f"{regime} - {SINGLE}", "records": "query"}
            facts = summary(gap.to_numpy(), -1, 1)
            facts["method"] += ", paired"
            yield tidy.row(STUDY, {**keys, "signal": "loss"}, "regime auc difference", **facts, null=0.0)
