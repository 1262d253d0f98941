"""The correlation of runs of one split."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
from scipy.stats import binom
from simulated_runs import (
    judged,
)

from memaudit.common import tidy
from memaudit.studies.iclmem.outcome_rules import Rule
from memaudit.studies.iclmem.outcome_shares import SplitBootstrap
from memaudit.studies.iclmem.rule_validation import survival, variation
from memaudit.studies.iclmem.significance_tests import decisions


def test_splits_that_disagree_are_not_detected_however_small_the_p_value():
    """Every run differs from chance, up or down with its split: significant where up prevails, and no interval."""
    planted = judged(fall=0.0, seed=3, common=2.0)
    table = decisions(planted)["loss"]
    assert table["p"].min() < 0.05
    assert not table["detected"].any()
    observed = {row["metric"]: row["estimate"] for row in variation(planted) if "signal=loss" in row["setting"]}
    assert observed["split share"] > 0.9
    apart = {row["metric"]: row["estimate"] for row in variation(judged(fall=0.0, seed=2)) if "loss" in row["setting"]}
    assert apart["split share"] < 0.5


def test_the_interval_of_the_split_share_holds_the_truth_as_often_as_it_says():
    """AUCs of 6 settings in 5 splits; the truth is the share of what is common to these splits, .4 for many splits."""
    rng, covered, trials = np.random.default_rng(0), 0, 400
    runs = pd.DataFrame({"dataset": ["wine"] * 30})
    settings = list(np.arange(30).reshape(6, 5))
    for _ in range(trials):
        common = np.sqrt(0.4) * rng.normal(size=5)
        auc = 0.5 + rng.normal(size=(6, 1)) + common + np.sqrt(0.6) * rng.normal(size=(6, 5))
        values = dict.fromkeys(("loss", "entropy"), auc.ravel())
        given = SimpleNamespace(runs=runs, settings=lambda: settings, values=lambda name, values=values: values)
        (share,) = (
            one for one in variation(given) if one["metric"] == "split share" and "signal=loss" in one["setting"]
        )
        truth = common.var(ddof=1) / (common.var(ddof=1) + 0.6)
        covered += share["low"] <= truth <= share["high"]
    low, high = binom.ppf([0.001, 0.999], trials, 0.95)
    assert low <= covered <= high


def test_p_values_of_what_a_rule_detects_are_compared_with_those_of_permutations_that_it_detects():
    """The rule picks large AUCs: of its chance detections more than .05 have a p-value of up to .05."""
    found = []
    resampling = SplitBootstrap(20, 0)
    for seed in range(12):
        study = judged(fall=0.0, seed=seed)
        rows = tidy.expand(tidy.frame(list(survival(study, {"as_written": Rule()}, decisions(study), [], resampling))))
        rows = rows[(rows["check"] == "p-value") & (rows["of"] == "run") & (rows["rule"] == "as_written")]
        row = rows[rows["labels"] == "all"].iloc[0]
        found.append((row["estimate"], row["n"], row["null"]))
    share, runs, expected = np.array(found).T
    passed, expected = (share * runs).sum(), (expected * runs).sum() / runs.sum()
    assert 0.05 < expected < 0.2
    assert binom.ppf(0.001, runs.sum(), expected) <= passed <= binom.ppf(0.999, runs.sum(), expected)
