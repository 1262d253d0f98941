"""Change of the AUC from the first probed epoch of a run to its last, paired by split (ICLMEM, Figure 2)."""

from collections.abc import Iterator
from typing import Any

import pandas as pd

from memaudit.common import tidy
from memaudit.studies.iclmem.run_metrics import STUDY
from memaudit.studies.iclmem.setting_summaries import KEYS, keys_of, summary

COMMON = [key for key in KEYS if key != "epoch"]


def epoch_effects(runs: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Tidy rows of the AUC on the loss at the last epoch less that at the first (key `less`); runs: a line per run.

    Both are of the same fine-tuning, members and non-members of a split; the interval is Student's t over splits.
    """
    for _, group in runs.groupby(COMMON, sort=False):
        by_epoch = group.pivot_table("query_loss_auc", "split", "epoch", dropna=False)
        first, last = by_epoch.columns.min(), by_epoch.columns.max()
        gap = (by_epoch[last] - by_epoch[first]).dropna()
        if first == last or gap.empty:
            continue
        ends = {"epoch": f"{last:g}", "less": f"{first:g}", "records": "query", "signal": "loss"}
        facts = summary(gap.to_numpy(), -1, 1)
        facts["method"] += ", paired"
        yield tidy.row(STUDY, keys_of(group.iloc[0], COMMON) | ends, "epoch auc difference", **facts, null=0.0)
