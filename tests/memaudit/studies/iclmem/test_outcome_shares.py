"""Shares of runs, with intervals that resample splits."""

import numpy as np
import pandas as pd
import pytest

from memaudit.studies.iclmem.outcome_shares import SplitBootstrap


def test_shares_resample_splits_with_all_their_runs():
    """40 runs that agree within 5 splits are 5 pieces of evidence, and 0 of 5 is not certain."""
    runs = pd.DataFrame({"dataset": "wine", "split": np.repeat(np.arange(5), 8)})
    resampling = SplitBootstrap(400, 0)
    together = resampling.mean((runs["split"] < 2).to_numpy(), runs)
    apart = resampling.mean(np.arange(40) % 5 < 2, runs)
    assert together["estimate"] == apart["estimate"] == 0.4
    assert together["high"] - together["low"] > 3 * (apart["high"] - apart["low"])
    none = resampling.mean(np.zeros(40), runs)
    assert none["low"] == 0
    assert none["high"] == pytest.approx(0.4345, abs=1e-3)  # Wilson's for 0 of 5
