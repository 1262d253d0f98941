"""Parts of results/bench/mechanism_costs.json, each with its CPU seconds."""

import time
from collections.abc import Mapping
from functools import partial
from typing import Any

from memaudit.studies.mechanism_costs import label_counts, selection_costs, vote_histograms

DELTA, MOST = label_counts.DELTA, label_counts.MOST
VOTES = {f"votes {name}": name for name in vote_histograms.TABLES}
PARTS = ["labels", "selection", *VOTES]


def measure(part: str, folder: str) -> Mapping[str, Any]:
    """Rows of a part of `PARTS`; folder: of the tables."""
    started = time.process_time()
    computed = {"labels": label_counts.rows, "selection": selection_costs.rows}
    rows = list((computed.get(part) or partial(vote_histograms.rows, VOTES[part], folder))())
    return {"rows": rows, "cpu_seconds": round(time.process_time() - started, 1)}
