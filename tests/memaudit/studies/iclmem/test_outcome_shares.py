"""Shares of runs, with intervals that resample splits."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy.stats import binom

from memaudit.common import tidy
from memaudit.studies.iclmem.outcome_rules import COLLAPSE, DETECTABLE, Rule
from memaudit.studies.iclmem.outcome_shares import SplitBootstrap, dataset_rows, flagged, shares
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


def detections(rng, tables=10, settings=4, splits=12):
    """Detected runs, and whether each run's setting passes a check: settings of a table tend to pass together.

    Half of all settings pass. A split of a setting that passes is detected with probability .7, of another with .3.
    """
    passing = rng.random((tables, settings)) < rng.beta(0.7, 0.7, (tables, 1))
    detected = rng.random((tables, settings, splits)) < np.where(passing, 0.7, 0.3)[..., None]
    table, setting, split = np.nonzero(detected)
    runs = pd.DataFrame({"dataset": table, "arm": setting, "split": split, "model": "m", "regime": "single fixed"})
    runs = runs.assign(labels="normal", learning_rate=1e-3, queries=50, context="8", epoch=1)
    return passing[table, setting].astype(float), runs


def test_the_interval_of_a_share_of_settings_holds_the_truth_though_they_share_splits():
    """Settings that pass have .7 of the detections. Splits that are resampled hold it less often."""
    rng, resampling, trials, truth = np.random.default_rng(0), SplitBootstrap(200, 0), 300, 0.7
    held = {"settings": 0, "runs": 0}
    for _ in range(trials):
        passed, runs = detections(rng)
        found = {"settings": resampling.share_of_settings(passed, runs), "runs": resampling.mean(passed, runs)}
        assert found["settings"]["estimate"] == found["runs"]["estimate"]
        for name, share in found.items():
            held[name] += share["low"] <= truth <= share["high"]
    assert held["settings"] >= binom.ppf(0.001, trials, 0.95)
    assert held["runs"] < 0.7 * trials


def test_a_share_of_settings_counts_settings_and_no_table_is_evidence_of_others():
    passed, runs = detections(np.random.default_rng(1), tables=3)
    resampling = SplitBootstrap(200, 0)
    none = resampling.share_of_settings(np.zeros(len(passed)), runs)
    assert none["n"] == 12
    assert none["method"] == "Clopper-Pearson, as of 3 data sets"
    assert none["high"] == pytest.approx(0.7076, abs=1e-3)
    one_table = (runs["dataset"] == 0).to_numpy()
    alone = resampling.share_of_settings(np.arange(one_table.sum()) % 2, runs[one_table])
    assert alone["n"] == 4
    assert np.isnan([alone["low"], alone["high"]]).all()
    empty = resampling.share_of_settings(passed[:0], runs[:0])
    assert (empty["n"], np.isnan(empty["estimate"])) == (0, True)


def test_collapse_at_large_rates_counts_the_runs_of_both_tasks_at_these_rates_alone():
    rates = np.repeat([1e-3, 1e-2, 1e-1], 8)
    collapsed = np.r_[np.ones(8), np.zeros(4), np.ones(4), np.ones(8)] > 0
    runs = pd.DataFrame({"learning_rate": rates, "outcome_as_written": np.where(collapsed, COLLAPSE, DETECTABLE)})
    runs = runs.assign(model=np.tile(["a", "b"], 12), split=np.tile(np.arange(4), 6), dataset="wine", labels="normal")
    runs = runs.assign(arm="x", regime="single fixed", queries=50, epoch=10)
    found = tidy.expand(tidy.frame(list(shares(runs, SplitBootstrap(50, 0)))))
    found = found[found["outcome"] == COLLAPSE].set_index("by")
    assert (found.loc["large rates", "estimate"], found.loc["large rates", "n"]) == (0.75, 16)
    assert (found.loc["tasks", "estimate"], found.loc["tasks", "n"]) == (20 / 24, 24)


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
