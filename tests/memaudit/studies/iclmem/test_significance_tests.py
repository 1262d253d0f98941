"""Detected settings: planted memorization, none at all, and splits that disagree."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy.stats import binom
from simulated_runs import ROLES, draws, judged, run, study

from memaudit.statistics.permutation_tests import aucs, max_t, p_value
from memaudit.studies.iclmem.outcome_rules import (
    COLLAPSE,
    DETECTABLE,
)
from memaudit.studies.iclmem.run_metrics import LARGER, SIGNALS, judge_run
from memaudit.studies.iclmem.significance_tests import (
    Study,
    corrected,
    decide,
    decision_rows,
    decisions,
    means,
    permuted_detections,
)


def null_study(seed, correlation, splits=5, epochs=4, permutations=39):
    """Runs without any memory; epochs of a split share most of each record's change. Returns facts, arrays."""
    rng, lines, results = np.random.default_rng(seed), [], []
    for split in range(splits):
        shared, own = rng.normal(size=len(ROLES)), rng.normal(size=(epochs, len(ROLES)))
        of_split = draws(seed, split, permutations)
        for epoch, noise in enumerate(own, start=1):
            common = np.sqrt(correlation) * shared + np.sqrt(1 - correlation) * noise
            lines.append((split, epoch))
            results.append(scores_of(common, rng, of_split))
    return np.array(lines), results


def scores_of(common, rng, of_split):
    """Observed and permuted AUCs (signal,), (signal, permutation) of a change (target,) seen by loss and entropy."""
    values = np.stack([-common, -0.6 * common + 0.8 * rng.normal(size=common.shape)])
    member = ROLES == "query"
    return aucs(values, member[None])[:, 0], aucs(values, of_split.permuted(member))


@pytest.mark.parametrize("correlation", [0.0, 0.95])
def test_without_memory_null_calibrated_p_values_are_uniform_and_the_published_rule_flags_most(correlation):
    """400 studies: the rate of p <= .05 lies in its binomial band, for a run, a setting and a peak over epochs, also
    where all runs of a split agree; of 4 correlated epochs the published rule calls one memory even more often.
    """
    trials, rates, flagged = 400, {"run": 0, "larger": 0, "setting": 0, "peak": 0}, []
    for seed in range(trials):
        lines, results = null_study(seed, correlation)
        observed, permuted = (np.array(part) for part in zip(*results, strict=True))
        larger, its_null = observed.max(1), permuted.max(1)
        settings = [np.flatnonzero(lines[:, 1] == epoch) for epoch in range(1, 5)]
        auc, null = means(observed[:, 0], settings), means(permuted[:, 0], settings)
        rates["run"] += p_value(observed[0, 0], permuted[0, 0]) <= 0.05
        rates["larger"] += p_value(larger[0], its_null[0]) <= 0.05
        rates["setting"] += p_value(auc, null)[0] <= 0.05
        rates["peak"] += max_t(auc, null).min() <= 0.05
        flagged.append((larger > 0.5).mean())
    low, high = binom.ppf([0.001, 0.999], trials, 0.05)
    assert all(low <= rate <= high for rate in rates.values()), rates
    # Correlation .6 of the signals: 3/4 - arcsin(.6) / 2 pi = .648.
    assert np.mean(flagged) == pytest.approx(0.648, abs=0.03)


def test_a_planted_memorizer_is_detected_by_both_rules():
    planted = judged(fall=3.0)
    assert (planted.runs["query_loss_auc"] > 0.99).all()
    assert (planted.runs[["outcome_as_written", "outcome_as_tabulated", "outcome_null_calibrated"]] == DETECTABLE).all(
        axis=None
    )
    results = decisions(planted)["loss"]
    assert results["detected"].all()
    # All but the in-context loss, which has no signal here: 6 of 8 p-values are 1 / 200.
    assert results["q"].to_numpy() == pytest.approx(8 / 6 / 200)
    assert (results["p_epochs"] == 1 / 200).all()


def test_a_model_without_memorization_is_not_detected_though_the_published_rule_flags_some_runs():
    planted = judged(fall=0.0, seed=1)
    assert (planted.runs["larger_auc"] > 0.5).sum() >= 5
    for table in decisions(planted).values():
        assert not table["detected"].any()


def test_the_larger_of_two_is_judged_against_the_larger_of_two():
    """Its permuted mean lies above one half, and so must its interval."""
    rng = np.random.default_rng(0)
    permuted = 0.5 + 0.05 * rng.normal(size=(5, 2, 999))
    observed = np.array([0.51, 0.52, 0.515, 0.518, 0.522])
    settings = [np.arange(5)]
    alone = decide(observed, [permuted[:, 0]], settings, "loss")
    larger = decide(observed, [permuted.max(1)], settings, "larger")
    assert alone["low"][0] == larger["low"][0] > 0.5
    assert alone["p"][0] < 0.25
    assert larger["p"][0] > 0.7


def test_an_interval_above_one_half_is_not_enough_for_the_larger_of_two():
    """Significant as both are, the interval of the larger includes its chance level, .53."""
    permuted = 0.53 + 0.01 * np.random.default_rng(0).normal(size=(5, 999))
    # Widened for skewed values, the interval of five splits of this spread includes one half: the loss is no detection.
    scattered = np.array([0.52, 0.58, 0.62, 0.64, 0.54])
    assert not decide(scattered, [permuted], [np.arange(5)], "loss")["above"][0]
    observed = np.array([0.54, 0.58, 0.607, 0.62, 0.553])
    for signal, expected in (("loss", True), ("larger", False)):
        table = decide(observed, [permuted], [np.arange(5)], signal)
        assert table["p"][0] < 0.05
        assert 0.5 < table["low"][0] < 0.53
        assert table["above"][0] == expected, signal


def test_settings_whose_members_have_other_labels_do_not_lower_the_q_values_of_others():
    """Of 15 settings without an effect none has a p-value that passes alone; 5 with other labels all do."""
    null = judged(fall=0.0, seed=1)
    confounded = judged(fall=3.0, labels="shuffled_members", arm="b")
    both = Study(
        pd.concat([null.runs, confounded.runs], ignore_index=True), xr.concat([null.null, confounded.null], "run")
    )
    alone, beside = decisions(null)["loss"], decisions(both)["loss"]
    assert (beside["q"][:2].to_numpy() == alone["q"].to_numpy()).all()
    assert beside["detected"].tolist() == [False, False, True, True]


def test_without_confounded_settings_in_the_family_null_settings_keep_the_level():
    """15 settings under the null and 5 that the labels of members tell; the truth is known: all detections are false.

    Apart, a study has a false one among the 15 with probability .05. In one family with the 5 it has some ten times as
    often, and no correction of Benjamini and Hochberg promises less: most detections are true there.
    """
    rng, trials, false = np.random.default_rng(0), 300, {"apart": 0, "together": 0}
    told = np.arange(20) >= 15
    for _ in range(trials):
        tables = {
            signal: pd.DataFrame({"p": np.where(told, 1 / 2000, rng.random(20)), "above": True})
            for signal in (*SIGNALS, LARGER)
        }
        for name, confounded in {"apart": told, "together": np.zeros(20, bool)}.items():
            detected = corrected(tables, confounded)
            assert all(table["detected"][told].all() for table in detected.values())
            false[name] += any(detected[signal]["detected"][~told].any() for signal in SIGNALS)
    low, high = binom.ppf([0.001, 0.999], trials, 0.05)
    assert low <= false["apart"] <= high
    assert false["together"] > 5 * high, false


def test_a_diverged_run_is_a_collapse_and_leaves_its_setting_to_the_other_splits():
    rng = np.random.default_rng(0)
    lost = run(3.0, rng)
    lost.tuned[3, 2, 0] = np.nan
    results = [(0, 1, *judge_run(lost, draws(), (0.1,)))]
    results += [(split, 1, *judge_run(run(3.0, rng), draws(split=split), (0.1,))) for split in range(1, 4)]
    planted = study(results)
    assert planted.runs["outcome_as_written"].tolist() == [COLLAPSE, *[DETECTABLE] * 3]
    assert planted.runs["query_loss_auc"].isna().tolist() == [True, False, False, False]
    assert decisions(planted)["loss"]["auc"][0] == pytest.approx(planted.runs["query_loss_auc"][1:].mean(), abs=1e-6)
    with pytest.raises(ValueError, match="at least two non-members"):
        judge_run(lost._replace(query=lost.context), draws(), (0.1,))


def test_permuted_memberships_are_detected_as_rarely_as_the_correction_promises():
    """Of eight simulated studies without memory, and of one that remembers: its permutations forget."""
    for planted in [*(judged(fall=0.0, seed=seed) for seed in range(8)), judged(fall=3.0)]:
        detected = permuted_detections(planted)
        assert detected.shape == (len(SIGNALS), len(planted.settings()), planted.null.sizes["permutation"])
        any_detected = detected.any(axis=(0, 1))
        assert any_detected.mean() <= binom.ppf(0.999, len(any_detected), 0.05) / len(any_detected)
    rows = pd.DataFrame(decision_rows(planted, decisions(planted))).set_index("metric")
    by_chance = rows.loc["detections under permutation"]
    assert by_chance.low == 0 <= by_chance.estimate <= 0.5
    assert rows.loc["detected settings"].estimate.max() >= 1


def test_a_setting_states_the_auc_that_the_whole_rule_detects():
    """Splits whose AUCs vary about that AUC as permuted ones do are detected in 9 of 10 trials, q and interval."""
    given = judged(fall=0.0, seed=1)
    smallest = decisions(given)["entropy"]["detectable"]
    rng, place, trials, found = np.random.default_rng(0), 1, 100, 0
    runs = given.settings()[place]
    spread = given.values("permuted")["entropy"][runs].std(axis=1).mean()
    for _ in range(trials):
        observed = given.null["observed"].copy()
        observed.loc[{"signal": "entropy"}][runs] = smallest[place] + spread * rng.normal(size=len(runs))
        found += decisions(Study(given.runs, given.null.assign(observed=observed)))["entropy"]["detected"][place]
    low, high = binom.ppf([0.001, 0.999], trials, 0.9)
    assert low <= found <= high


def test_few_permutations_of_each_split_detect_jointly():
    """19 of each of five splits make 20^5 memberships, enough for one of eight tests alone; one of each makes 32."""
    planted = judged(fall=3.0)
    for permutations, smallest in {19: 1 / 1600, 1: 1 / 32}.items():
        few = Study(planted.runs, planted.null.isel(permutation=slice(permutations)))
        table = decisions(few)["loss"]
        assert table["p"].to_numpy() == pytest.approx(smallest, rel=0.5), permutations
        assert (table["detectable"] == 1).all() == (permutations == 1)
    method = next(decision_rows(few, decisions(few)))["method"]
    assert method == "1599 permutations of membership within splits, drawn jointly from 1 of each"


def test_a_single_permutation_is_detected_as_the_true_membership_is():
    """Far above chance in one of eight tests, with no more permutations than one detection needs."""
    given = judged(fall=0.0, seed=1)
    given = given._replace(null=given.null.isel(permutation=slice(159)))
    assert given.joint().count == 159
    runs, permuted = given.settings()[0], given.null["permuted"].copy()
    permuted.loc[{"signal": "loss", "permutation": 7}][runs] = 0.8 + 0.003 * np.arange(len(runs))
    detected = permuted_detections(given._replace(null=given.null.assign(permuted=permuted)))
    assert detected[SIGNALS.index("loss"), 0, 7]


def test_permuted_memberships_are_detected_as_often_as_true_ones_without_memory():
    """Of independent settings, which have as many permutations as are needed, or draw them jointly."""
    rng, trials = np.random.default_rng(0), 60
    for permutations in (39, 159):
        true, permuted = 0, 0.0
        for _ in range(trials):
            given = independent(rng, permutations)
            true += sum(table["detected"].sum() for name, table in decisions(given).items() if name != LARGER)
            permuted += permuted_detections(given).sum(axis=(0, 1)).mean()
        assert 0 < permuted / trials < 0.1
        assert abs(true - permuted) < 3.3 * np.sqrt(max(permuted, 1)), (permutations, true, permuted)


def independent(rng, permutations, settings=2, splits=12):
    """A study without memory whose settings and signals have nothing in common."""
    runs = settings * splits
    values = 0.5 + 0.03 * rng.normal(size=(runs, len(SIGNALS), permutations + 1))
    table = pd.DataFrame({"dataset": "wine", "split": np.arange(runs), "labels": "normal", "epoch": 1})
    table["arm"] = np.repeat(np.arange(settings), splits).astype(str)
    table = table.assign(model="m", regime="single fixed", learning_rate=1e-3, queries=50, context="8")
    arrays = {
        "observed": (("run", "signal"), values[..., 0]),
        "permuted": (("run", "signal", "permutation"), values[..., 1:]),
    }
    return Study(table, xr.Dataset(arrays, {"signal": list(SIGNALS)}))


def test_permuted_detections_need_the_interval_too():
    """Permutations whose splits disagree are extreme in their mean, and their interval includes chance."""
    rng = np.random.default_rng(0)
    given = judged(fall=0.0, seed=1)
    permuted = given.null["permuted"].copy()
    permuted.loc[{"permutation": 0}] = np.where(given.runs["split"] < 3, 0.95, 0.3)[:, None] + 0 * permuted[..., 0]
    detected = permuted_detections(Study(given.runs, given.null.assign(permuted=permuted)))
    assert not detected[..., 0].any()
    permuted.loc[{"permutation": 0}] = 0.8 + 0.01 * rng.normal(size=permuted[..., 0].shape)
    assert permuted_detections(Study(given.runs, given.null.assign(permuted=permuted)))[..., 0].all()
