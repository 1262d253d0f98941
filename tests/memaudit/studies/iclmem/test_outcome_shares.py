"""Shares of runs, with intervals that resample splits."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from memaudit.common import tidy
from memaudit.studies.iclmem.outcome_rules import Rule
from memaudit.studies.iclmem.outcome_shares import SplitBootstrap, dataset_rows, flagged
from memaudit.studies.iclmem.significance_tests import Study


def test_shares_resample_splits_with_all_their_runs():
    """80 runs that agree within 5 splits are 5 pieces of evidence, and 0 of 5 is not certain."""
    runs = pd.DataFrame({"dataset": "wine", "split": np.repeat(np.arange(5), 16)})
    resampling = SplitBootstrap(400, 0)
    together = resampling.mean((runs["split"] < 2).to_numpy(), runs)
    apart = resampling.mean(np.arange(80) % 5 < 2, runs)
    assert together["estimate"] == apart["estimate"] == 0.4
    assert together["high"] - together["low"] > 3 * (apart["high"] - apart["low"])
    none = resampling.mean(np.zeros(80), runs)
    assert none["low"] == 0
    assert none["high"] == pytest.approx(0.5218, abs=1e-3)  # Clopper and Pearson's for 0 of 5


def test_the_share_of_flags_is_compared_on_the_same_runs():
    runs = pd.DataFrame({"dataset": "wine", "split": range(4), "model": "m", "regime": "single fixed"})
    runs["raw_flag"], runs["calibrated_flag"] = [True, True, True, False], [True, False, False, False]
    runs["outcome_as_written"] = "no signal"
    rates = ("run", "permutation"), np.tile([0.0, 0.2], (4, 1))
    study = Study(runs, xr.Dataset({"permuted_raw": rates, "permuted_reference": rates}))
    found = tidy.expand(tidy.frame(list(flagged(study, Rule(0.5), SplitBootstrap(200, 0)))))
    gaps = found[found["metric"] == "flag share difference"].set_index("between")
    assert gaps["estimate"].to_dict() == pytest.approx({"calibrated - raw": -0.5, "raw - permuted": 0.25})
    shares = found[(found["metric"] == "raw flag share") & (found["records"] == "query")].iloc[0]
    assert gaps.loc["raw - permuted", "estimate"] == pytest.approx(shares["estimate"] - shares["null"])


def test_memorization_of_few_labels_has_a_negative_rank_correlation_with_their_number():
    labels, detectable = np.repeat([2, 3, 50, 900, 4000], 4), [4, 3, 2, 1, 0]
    runs = pd.DataFrame({"dataset": [f"d{k}" for k in labels], "split": np.tile(np.arange(4), 5), "k": labels})
    runs = runs.assign(model="m", regime="single fixed", labels="normal", queries=50, records=1000, candidates=3)
    runs = runs.assign(majority=0.5, density=1000 / labels, coverage=0.05, manipulations=48)
    runs["outcome_as_written"] = [
        "detectable" if split < hits else "no signal" for hits in detectable for split in range(4)
    ]
    found = tidy.expand(tidy.frame(list(dataset_rows(runs, SplitBootstrap(20, 0)))))
    correlations = found[found["metric"].str.startswith("spearman")].set_index("metric")["estimate"]
    assert correlations.to_dict() == pytest.approx({"spearman density": 1.0, "spearman k": -1.0})
