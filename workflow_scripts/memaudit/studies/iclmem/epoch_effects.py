"""Change of the AUC from the first probed epoch of a run to its last, paired by split (ICLMEM, Figure 2)."""

from collections.abc import Iterator
from typing import Any

import pandas as pd

from memaudit.studies.iclmem.run_metrics import SIGNALS
from memaudit.studies.iclmem.setting_summaries import KEYS, keys_of, paired_rows

COMMON = [key for key in KEYS if key != "epoch"]


def epoch_effects(runs: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Tidy rows of the AUC of each signal at the last epoch less that at the first (key `less`); runs: a line per run.

    Both are of the same fine-tuning, members and non-members of a split; the interval is Student's t over splits.
    """
    for _, group in runs.groupby(COMMON, sort=False):
        first, last = group["epoch"].min(), group["epoch"].max()
        for signal in SIGNALS:
            by_epoch = group.pivot_table(f"query_{signal}_auc", "split", "epoch", dropna=False)
            gap = (by_epoch[last] - by_epoch[first]).dropna()
            if first == last or gap.empty:
                continue
            ends = {"epoch": f"{last:g}", "less": f"{first:g}", "records": "query", "signal": signal}
            yield from paired_rows(keys_of(group.iloc[0], COMMON) | ends, "epoch auc difference", gap.to_numpy())
