"""Checks of detections against their nulls, and the correlation of runs of one split."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import xarray as xr
from scipy.stats import binom
from simulated_runs import (
    judged,
)

from memaudit.common import tidy
from memaudit.statistics.permutation_tests import p_value
from memaudit.studies.iclmem import rule_validation, significance_tests
from memaudit.studies.iclmem.label_effects import LabelEffect
from memaudit.studies.iclmem.outcome_rules import Rule
from memaudit.studies.iclmem.outcome_shares import SplitBootstrap
from memaudit.studies.iclmem.rule_validation import survival, variation
from memaudit.studies.iclmem.run_metrics import SIGNALS
from memaudit.studies.iclmem.significance_tests import Study, decisions


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
        values = dict.fromkeys(SIGNALS, auc.ravel())
        given = SimpleNamespace(runs=runs, settings=lambda: settings, values=lambda name, values=values: values)
        (share,) = (
            one for one in variation(given) if one["metric"] == "split share" and "signal=loss" in one["setting"]
        )
        truth = common.var(ddof=1) / (common.var(ddof=1) + 0.6)
        covered += share["low"] <= truth <= share["high"]
    low, high = binom.ppf([0.001, 0.999], trials, 0.95)
    assert low <= covered <= high


def exchangeable(seed, settings=3, splits=2, permutations=99):
    """A study without memory by construction: the observed AUCs and gaps are one draw more of the permuted ones.

    All settings of a split have something in common; of normal labels, and the last of shuffled ones.
    """
    rng, runs = np.random.default_rng(seed), settings * splits
    common = rng.normal(size=(1, splits, 1, permutations + 1))
    own = rng.normal(size=(settings, splits, len(SIGNALS), permutations + 1))
    drawn = np.round(0.5 + 0.03 * (common + own), 6).reshape(runs, len(SIGNALS), -1)
    gap = (0.5 - drawn[:, 0]) + 0.01 * rng.normal(size=(runs, permutations + 1))
    labels = np.repeat(["normal"] * (settings - 1) + ["shuffled_all"], splits)
    table = pd.DataFrame({"dataset": "wine", "split": np.tile(np.arange(splits), settings), "labels": labels})
    table = table.assign(arm=np.repeat(np.arange(settings), splits).astype(str), epoch=1, diverged=False)
    same = {"model": "m", "regime": "single fixed", "learning_rate": 1e-3, "queries": 50, "context": "8"}
    larger = drawn[:, :2].max(axis=1)
    table = table.assign(**same, larger_auc=larger[:, 0], larger_p=p_value(larger[:, 0], larger[:, 1:]))
    table["mu_gap"] = gap[:, 0]
    detected = (larger[:, 0] > 0.5) & (gap[:, 0] <= 0)
    table["outcome_as_written"] = np.where(detected, "detectable", "inversion")
    arrays = {
        "observed": (("run", "signal"), drawn[..., 0]),
        "permuted": (("run", "signal", "permutation"), drawn[..., 1:]),
        "permuted_gap": (("run", "permutation"), gap[:, 1:]),
    }
    return Study(table, xr.Dataset(arrays, {"signal": list(SIGNALS)}))


def effect(study, splits=2, below=0.03):
    """The last setting, of shuffled labels, against the first one; its interval reaches `below` under the mean."""
    normal, other = np.arange(splits), np.arange(len(study.runs) - splits, len(study.runs))
    auc = study.values("observed")["loss"]
    low = (auc[normal] - auc[other]).mean() - below
    return LabelEffect([], "shuffled_all", "loss", normal, normal, other, low, below)


def test_nulls_of_all_checks_are_the_shares_that_pass_where_nothing_is_memorized(monkeypatch):
    """Of 60 studies whose observed AUCs are one more permutation, as many detections pass as the nulls say.

    The level is raised to .3, since at .05 hardly any passes; the checks of settings have their q and their interval.
    """
    for module in (significance_tests, rule_validation):
        monkeypatch.setattr(module, "LEVEL", 0.3)
    resampling, sums = SplitBootstrap(2, 0), {}
    for seed in range(60):
        study = exchangeable(seed)
        rows = pd.DataFrame(survival(study, {"as_written": Rule()}, decisions(study), [effect(study)], resampling))
        rows = tidy.expand(rows[rows["metric"] == "surviving share"])
        for row in rows[(rows["of"] == "run") & (rows["labels"] == "all")].itertuples():
            if row.n:
                passed, expected, runs = sums.get(row.check, (0, 0, 0))
                sums[row.check] = passed + row.estimate * row.n, expected + row.null * row.n, runs + row.n
    assert set(sums) == {"p-value", "q-value", "setting", "setting on loss", "weaker shuffled_all"}
    for check, (passed, expected, runs) in sums.items():
        share = expected / runs
        # Runs of a study are not independent: a study has the weight of two of its six.
        error = np.sqrt(share * (1 - share) / (runs / 3))
        assert abs(passed / runs - share) < 3.3 * error, (check, passed / runs, share)


def test_checks_of_settings_count_settings_and_checks_of_runs_count_runs():
    """The effect of labels is one of the first setting, whichever number of its eight splits is detected."""
    study = exchangeable(seed=0, settings=4, splits=8)
    weaker = effect(study, splits=8)
    rows = survival(study, {"as_written": Rule()}, decisions(study), [weaker], SplitBootstrap(20, 0))
    table = tidy.expand(tidy.frame(list(rows)))
    table = table[(table["rule"] == "as_written") & (table["of"] == "run") & (table["labels"] == "normal")]
    shares = table[table["metric"] == "surviving share"].set_index("check")
    normal, detected = study.runs["labels"] == "normal", study.runs["outcome_as_written"] == "detectable"
    assert detected[weaker.normal].sum() > 1
    assert shares["n"].to_dict() == {
        "p-value": (detected & normal).sum(),
        "q-value": (detected & normal).sum(),
        "setting": study.runs[detected & normal]["arm"].nunique(),
        "setting on loss": study.runs[detected & normal]["arm"].nunique(),
        "weaker shuffled_all": 1,
    }
    assert shares.loc["weaker shuffled_all", "method"] == "Clopper-Pearson, as of 1 data sets"


def test_settings_with_shuffled_members_are_in_no_number_of_all():
    clean, confounded = judged(fall=3.0), judged(fall=3.0, labels="shuffled_members", arm="b")
    both = Study(
        pd.concat([clean.runs, confounded.runs], ignore_index=True), xr.concat([clean.null, confounded.null], "run")
    )
    rows = pd.DataFrame(survival(both, {"as_written": Rule()}, decisions(both), [], SplitBootstrap(20, 0)))
    criterion = tidy.expand(rows[rows["metric"] == "criterion share"])
    assert (criterion["labels"].tolist(), criterion["n"].tolist()) == (["all"], [10])
    rows = tidy.expand(rows[rows["metric"] == "detections"])
    counts = rows[rows["rule"] == "as_written"].set_index(["of", "labels"])["estimate"]
    assert counts["run", "all"] == counts["run", "normal"] == counts["run", "shuffled_members"] == 10
    assert counts["setting", "all"] == 2


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
