"""Memorization of fine-tuned models: outcomes by the published table, and a null that runs of one split share."""

import itertools
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy.stats import binom, norm

from memaudit import tidy
from memaudit.statistics import roc
from memaudit.studies.iclmem.chance_nulls import aucs, exchanged, first, max_t, p_value, q_value
from memaudit.studies.iclmem.decisions import Study, decide, decisions, label_effects, means
from memaudit.studies.iclmem.outcome_shares import Resampled
from memaudit.studies.iclmem.rule_checks import variation
from memaudit.studies.iclmem.run_outcomes import (
    COLLAPSE,
    DETECTABLE,
    INVERSION,
    NO_SIGNAL,
    OVERFITTING,
    SIGNALS,
    Rule,
    collapsed,
    flags,
    gaps,
    outcomes,
    published,
    robustness,
    score,
)
from memaudit.studies.iclmem.run_results import Run, draw, judge_run
from memaudit.studies.iclmem.setting_results import describe, ruled, summary

RULES = {"as_written": {"auc": 0.5}, "as_tabulated": {"auc": 0.55}}
MEMBERS, MANIPULATIONS = 50, 5
ROLES = np.array(["query"] * MEMBERS + ["nonmember"] * MEMBERS)
IDS = np.array([f"{i:04x}" for i in range(len(ROLES))])
PAIR = np.tile(np.arange(MEMBERS), 2)
HEALTHY = {
    "loss": 1.0, "base_loss": 1.0, "quality": 0.8, "base_quality": 0.8, "chance": 0.6, "mu_gap": -0.2,
    "sigma_gap": 0.5, "diverged": False, "larger_auc": 0.4,
}  # fmt: skip


def facts(**changed):
    """Facts of one run in arrays (1,)."""
    return {name: np.array([value]) for name, value in (HEALTHY | changed).items()}


def outcome(rule=None, **changed):
    found = facts(**changed)
    rule = rule or Rule()
    return outcomes(found, rule, published(found, rule))[0]


def signals(loss, rng):
    """(..., 4) of losses (...), the entropy half as telling."""
    entropy = 0.5 * loss + 0.5 * rng.normal(size=loss.shape)
    return np.stack([loss, entropy, np.exp(-loss), np.zeros(loss.shape)], axis=-1)


def run(fall, rng, common=0.0):
    """A run in which members' losses fall by `fall`, on top of a change (target,) that other runs have too."""
    base = 2 + rng.normal(size=len(ROLES))
    change = common + 0.2 * rng.normal(size=(MANIPULATIONS, len(ROLES))) - fall * (ROLES == "query")
    probed = signals((base + change).T, rng)
    reference = signals(np.broadcast_to(base, change.shape).T, rng)
    vanilla = signals(np.ones(len(ROLES)), rng)
    nobody = np.zeros(len(ROLES), np.bool_)
    return Run(probed, reference, vanilla, vanilla, vanilla, vanilla, ROLES == "query", nobody, ROLES == "nonmember")


def draws(seed=0, split=0, permutations=99):
    return draw(IDS, PAIR, "wine", split, seed=seed, permutations=permutations, replicates=20)


def test_what_was_taught_may_be_known_where_it_was_taught_alone():
    rng = np.random.default_rng(0)
    one = run(0.0, rng)
    known = one._replace(taught=one.taught - 0.5 * (ROLES == "query")[:, None] * [1, 0, 0, 0])
    found, _ = judge_run(known, draws(), (0.1,))
    assert found["vanilla_auc"] == 1.0
    assert abs(found["query_loss_auc"] - 0.5) < 0.25
    plain, _ = judge_run(one, draws(), (0.1,))
    assert plain["vanilla_auc"] == 0.5  # nothing changed: all are tied


def test_every_signal_scores_higher_for_what_is_remembered():
    before = np.array([2.0, 1.5, 0.1, 1.0])
    after = np.array([0.5, 0.2, 0.6, 0.0])  # loss, entropy, confidence, error of a record that was learnt
    assert (score(after, before) > 0).all()
    assert score(after, before) == pytest.approx([1.5, 1.3, 0.5, 1.0])
    assert np.array_equal(score(after), [-0.5, -0.2, 0.6, 0.0])


def test_robustness_is_the_mean_over_manipulations_in_double_precision():
    values = np.random.default_rng(0).random((3, 7, 48, len(SIGNALS)), dtype=np.float32)
    found = robustness(values)
    assert found.shape == (3, 7, len(SIGNALS))
    assert found[2, 6, 1] == np.mean([float(value) for value in values[2, 6, :, 1]])


def test_gaps_are_of_member_less_nonmember_means_by_manipulation():
    loss = np.array([[1.0, 2.0], [3.0, 2.0], [0.0, 8.0], [1.0, 0.0]])
    found = gaps(loss, np.array([True, True, False, False]))
    assert found.tolist() == [1.5, -2.0]
    assert (found.mean(), found.std()) == (-0.25, 1.75)


def test_outcomes_go_by_the_priority_of_table_3():
    """Each run meets its own condition and all that come after it."""
    flat = {"mu_gap": -0.01, "sigma_gap": 0.01}
    assert outcome(loss=5.1, **{**flat, "mu_gap": 0.01}, larger_auc=0.9) == COLLAPSE
    assert outcome(**{**flat, "mu_gap": 0.01}, larger_auc=0.9) == INVERSION
    assert outcome(**flat, larger_auc=0.9) == DETECTABLE
    assert outcome(**flat) == OVERFITTING
    assert outcome() == NO_SIGNAL


def test_thresholds_are_strict_and_those_of_the_rule():
    assert outcome(larger_auc=0.5) == NO_SIGNAL
    assert outcome(larger_auc=0.542) == DETECTABLE
    assert outcome(Rule(auc=0.55), larger_auc=0.542) == NO_SIGNAL
    assert outcome(Rule(auc=0.55), larger_auc=0.56) == DETECTABLE
    assert outcome(loss=5.0) == NO_SIGNAL
    assert outcome(Rule(loss_ratio=2), loss=2.1) == COLLAPSE
    assert outcome(mu_gap=-0.05, sigma_gap=0.1) == NO_SIGNAL
    assert outcome(mu_gap=-0.04, sigma_gap=0.2) == NO_SIGNAL
    assert outcome(mu_gap=-0.04, sigma_gap=0.19) == OVERFITTING


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"quality": 0.59}, True),  # fell below the majority predictor
        ({"quality": 0.6}, False),
        ({"quality": 0.1, "base_quality": 0.5}, False),  # the base was no better: nothing was destroyed
        ({"quality": 0.0, "chance": np.nan}, False),  # random labels cannot be predicted
        ({"quality": -0.1, "chance": 0.0, "base_quality": 0.3}, True),  # R2
        ({"loss": 0.3, "base_loss": -0.4}, False),  # a density above 1: the ratio says nothing
        ({"loss": np.nan, "larger_auc": np.nan, "mu_gap": np.nan, "diverged": True}, True),
    ],
)
def test_collapse_is_of_loss_accuracy_or_divergence(changed, expected):
    assert collapsed(facts(**changed), Rule())[0] == expected
    if expected:
        assert outcome(**changed) == COLLAPSE


def test_calibrated_flags_are_raw_ones_that_the_base_does_not_have():
    raw, base = np.array([0.09, 0.1, 0.3, 0.3, 1.0, np.nan]), np.array([0.0, 0.1, 0.2, 0.21, 0.95, np.nan])
    flagged, calibrated = flags(raw, base, Rule())
    assert flagged.tolist() == [False, True, True, True, True, False]
    assert calibrated.tolist() == [False, False, True, False, False, False]  # .3 - .2 is .0999... in floats


def test_aucs_of_many_designs_are_those_of_the_roc_with_ties():
    rng = np.random.default_rng(0)
    scores = np.stack([rng.normal(size=30), rng.integers(0, 4, 30), np.zeros(30)])
    designs = rng.random((20, 30)) < 0.4
    found = aucs(scores, designs)
    for (i, values), (j, design) in itertools.product(enumerate(scores), enumerate(designs)):
        assert found[i, j] == pytest.approx(roc.auc(values, design), abs=1e-12)
    assert (found[2] == 0.5).all()


def test_a_record_has_the_same_draws_wherever_it_stands_and_its_split_others():
    one = draws()
    order = np.random.default_rng(0).permutation(len(IDS))
    other = draw(IDS[order], PAIR[order], "wine", 0, seed=0, permutations=99, replicates=20)
    for name in ("coins", "permutations", "weights"):
        assert np.array_equal(getattr(one, name)[:, order], getattr(other, name))
    assert np.array_equal(one.weights[:, :MEMBERS], one.weights[:, MEMBERS:]), "a pair is resampled as one"
    assert not np.array_equal(one.coins, draws(split=1).coins)


def test_permuted_members_among_fewer_targets_are_a_uniform_part_of_the_same_permutation():
    priorities = np.random.default_rng(0).random((4000, 6))
    designs = first(priorities, 3)
    assert (designs.sum(1) == 3).all()
    counts = pd.Series(map(tuple, designs)).value_counts()
    assert len(counts) == 20  # of 6 choose 3
    assert abs(counts - 200).max() < 5 * np.sqrt(200)
    # With a target less the same members come first.
    fewer = first(priorities[:, :5], 2)
    last_stays_out = ~designs[:, 5]
    assert (fewer[last_stays_out] <= designs[last_stays_out, :5]).all()


def test_a_permutation_exchanges_pairs_and_draws_among_those_of_none():
    """Pairs 0 and 1 are whole, the member of pair 2 was not asked, two are in no pair, and one of these is a member."""
    unit, member = np.array([0, 1, 0, 1, 2, 3, 4]), np.array([True, True, False, False, False, True, False])
    rng = np.random.default_rng(0)
    coins = (rng.random((8000, 5)) < 0.5)[:, unit]
    designs = exchanged(member, unit, coins, rng.random((8000, 5))[:, unit])
    assert (designs.sum(1) == member.sum()).all()
    for one, other in ((0, 2), (1, 3)):
        assert (designs[:, one] ^ designs[:, other]).all()
        assert (designs[:, one] ^ coins[:, one]).all()
    assert designs[:, 4:].mean(0) == pytest.approx([1 / 3] * 3, abs=0.02)
    assert np.array_equal(exchanged(member[:4], unit[:4], np.zeros((1, 4), np.bool_), np.zeros((1, 4)))[0], member[:4])


@pytest.mark.parametrize(("matched", "low", "high"), [(True, 0.9, 1.1), (False, 0.3, 0.7)])
def test_where_pairs_are_alike_the_null_is_as_wide_as_the_aucs_and_unmatched_permutations_are_wider(matched, low, high):
    """Four fifths of a record's change is that of its pair, and nothing is remembered: AUCs of 300 splits in units of
    their null."""
    rng, z, member = np.random.default_rng(0), [], ROLES == "query"
    for split in range(300):
        scores = np.sqrt(0.8) * rng.normal(size=MEMBERS)[PAIR] + np.sqrt(0.2) * rng.normal(size=len(ROLES))
        of_split = draw(
            IDS,
            PAIR if matched else np.full(len(IDS), -1),
            "wine",
            split,
            seed=0,
            permutations=99,
            replicates=1,
        )
        null = aucs(scores, of_split.designs(member))
        z.append((aucs(scores, member[None])[0] - null.mean()) / null.std())
    assert low < np.std(z) < high


def test_all_runs_of_a_split_are_permuted_alike():
    rng = np.random.default_rng(0)
    one = run(0.5, rng)
    monotone = one._replace(tuned=3 * one.tuned, reference=3 * one.reference)  # another model, the same ranking
    found = [judge_run(each, draws(), (0.1,))[1]["permuted"] for each in (one, monotone)]
    assert np.array_equal(*found)
    other = judge_run(one, draws(split=1), (0.1,))[1]["permuted"]
    assert not np.allclose(found[0], other)


def test_p_values_count_the_observed_permutation_and_ties():
    null = np.array([0.4, 0.5, 0.6, 0.6])
    assert p_value(np.array([0.7, 0.6, 0.1]), np.broadcast_to(null, (3, 4))) == pytest.approx([0.2, 0.6, 1.0])
    assert np.isnan(p_value(np.array(np.nan), null))


def test_q_values_are_benjamini_and_hochbergs_and_leave_out_what_was_not_asked():
    p = np.array([0.01, np.nan, 0.02, 0.03, 0.5])
    assert q_value(p) == pytest.approx([0.04, np.nan, 0.04, 0.04, 0.5], nan_ok=True)
    assert np.isnan(q_value(np.array([np.nan]))).all()


def test_max_t_is_the_p_value_of_one_setting_and_corrects_for_several():
    rng = np.random.default_rng(0)
    null = 0.5 + 0.05 * rng.normal(size=(1, 999))
    assert max_t(np.array([0.6]), null) == pytest.approx(p_value(np.array([0.6]), null))
    # Epochs that move together cost nothing, independent ones as much as Sidak says.
    together = np.repeat(null, 8, axis=0)
    assert max_t(np.full(8, 0.6), together) == pytest.approx(p_value(np.array([0.6]), null)[0])
    apart = 0.5 + 0.05 * rng.normal(size=(8, 9999))
    assert max_t(np.full(8, 0.6), apart) == pytest.approx(1 - norm.cdf(2) ** 8, abs=0.02)
    # An AUC of few targets is noisier: the same excess weighs less.
    mixed = 0.5 + np.array([[0.01], [0.1]]) * rng.normal(size=(2, 999))
    precise, noisy, none = max_t(np.array([0.55, 0.55, np.nan]), np.vstack([mixed, np.full((1, 999), np.nan)]))
    assert precise < 0.01
    assert noisy > 0.2
    assert np.isnan(none)


def null_study(seed, correlation, splits=5, epochs=4, permutations=39):
    """Runs without any memory; epochs of a split share most of each record's change. Returns facts, arrays."""
    rng, lines, found = np.random.default_rng(seed), [], []
    for split in range(splits):
        shared, own = rng.normal(size=len(ROLES)), rng.normal(size=(epochs, len(ROLES)))
        of_split = draws(seed, split, permutations)
        for epoch, noise in enumerate(own, start=1):
            common = np.sqrt(correlation) * shared + np.sqrt(1 - correlation) * noise
            lines.append((split, epoch))
            found.append(scores_of(common, rng, of_split))
    return np.array(lines), found


def scores_of(common, rng, of_split):
    """Observed and permuted AUCs (signal,), (signal, permutation) of a change (target,) seen by loss and entropy."""
    values = np.stack([-common, -0.6 * common + 0.8 * rng.normal(size=common.shape)])
    member = ROLES == "query"
    return aucs(values, member[None])[:, 0], aucs(values, of_split.designs(member))


@pytest.mark.parametrize("correlation", [0.0, 0.95])
def test_without_memory_null_calibrated_p_values_are_uniform_and_the_published_rule_flags_most(correlation):
    """400 studies: the rate of p <= .05 lies in its binomial band, for a run, a setting and a peak over epochs, also
    where all runs of a split agree; of 4 correlated epochs the published rule calls one memory even more often.
    """
    trials, rates, flagged = 400, {"run": 0, "larger": 0, "setting": 0, "peak": 0}, []
    for seed in range(trials):
        lines, found = null_study(seed, correlation)
        observed, permuted = (np.array(part) for part in zip(*found, strict=True))
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


def study(found, **about):
    """A Study of arrays from `judge_run`, one data set and arm; found: (split, epoch, facts, arrays)."""
    arm = {
        "model": "m", "learning_rate": 1e-3, "queries": 50, "context": 8, "labels": "normal", "pairs": "fixed",
        "joint": False, "adapter": None, "private": None, "placebo": False,
    }  # fmt: skip
    named = {"dataset": "wine", "arm": "a", **describe(arm | about), "task": "classification", "chance": 0.5}
    runs = pd.DataFrame([named | {"split": split, "epoch": epoch} | of for split, epoch, of, _ in found])
    dims = {"observed": [], "permuted": ["permutation"], "bootstrapped": ["replicate"]}
    arrays = {
        name: (("run", "signal", *more), np.stack([one[name] for *_, one in found])) for name, more in dims.items()
    }
    return Study(ruled(runs, RULES), xr.Dataset(arrays, {"signal": ["loss", "entropy"]}))


def judged(fall, splits=5, seed=0, common=0.0, **about):
    rng = np.random.default_rng(seed)
    lucky = common * rng.normal(size=(splits, 1)) * (ROLES == "query")
    found = [
        (split, epoch, *judge_run(run(fall, rng, lucky[split]), draws(split=split, permutations=199), (0.1,)))
        for split in range(splits)
        for epoch in (1, 10)
    ]
    return study(found, **about)


def test_a_planted_memorizer_is_detected_by_both_rules():
    planted = judged(fall=3.0)
    assert (planted.runs["query_loss_auc"] > 0.99).all()
    assert (planted.runs[["outcome_as_written", "outcome_as_tabulated", "outcome_null_calibrated"]] == DETECTABLE).all(
        axis=None
    )
    found = decisions(planted)["loss"]
    assert found["detected"].all()
    assert (found["q"] == 1 / 200).all()
    assert (found["p_epochs"] == 1 / 200).all()


def test_one_without_memory_is_not_although_the_published_rule_flags_some_of_its_runs():
    planted = judged(fall=0.0, seed=1)
    assert (planted.runs["larger_auc"] > 0.5).sum() >= 5
    for table in decisions(planted).values():
        assert not table["detected"].any()


def test_splits_that_disagree_are_no_detection_however_small_the_p_value():
    """Every run differs from chance, up or down with its split: significant where up prevails, and no interval."""
    planted = judged(fall=0.0, seed=3, common=2.0)
    table = decisions(planted)["loss"]
    assert table["p"].min() < 0.05
    assert not table["detected"].any()
    found = {row["metric"]: row["estimate"] for row in variation(planted) if "signal=loss" in row["setting"]}
    assert found["split share"] > 0.9
    apart = {row["metric"]: row["estimate"] for row in variation(judged(fall=0.0, seed=2)) if "loss" in row["setting"]}
    assert apart["split share"] < 0.5


def test_the_interval_of_the_split_share_holds_the_truth_as_often_as_it_says():
    """AUCs of 6 settings in 5 splits, 40 % of whose variance after each setting's mean is common to a split."""
    rng, held, trials = np.random.default_rng(0), 0, 400
    runs = pd.DataFrame({"dataset": ["wine"] * 30})
    settings = list(np.arange(30).reshape(6, 5))
    for _ in range(trials):
        auc = 0.5 + rng.normal(size=(6, 1)) + np.sqrt(0.4) * rng.normal(size=5) + np.sqrt(0.6) * rng.normal(size=(6, 5))
        values = dict.fromkeys(("loss", "entropy"), auc.ravel())
        given = SimpleNamespace(runs=runs, settings=lambda: settings, values=lambda name, values=values: values)
        (share,) = (
            one for one in variation(given) if one["metric"] == "split share" and "signal=loss" in one["setting"]
        )
        held += share["low"] <= 0.4 <= share["high"]
    low, high = binom.ppf([0.001, 0.999], trials, 0.95)
    assert low <= held <= high


def test_the_larger_of_two_is_judged_against_the_larger_of_two():
    """Its permuted mean lies above one half, and so must its interval."""
    rng = np.random.default_rng(0)
    permuted = 0.5 + 0.05 * rng.normal(size=(5, 2, 999))
    observed = np.array([0.51, 0.52, 0.515, 0.518, 0.522])
    settings = [np.arange(5)]
    alone = decide(observed, permuted[:, 0], settings, "loss")
    larger = decide(observed, permuted.max(1), settings, "larger")
    assert alone["low"][0] == larger["low"][0] > 0.5
    assert alone["p"][0] < 0.25
    assert larger["p"][0] > 0.7


def test_an_interval_above_one_half_is_not_enough_for_the_larger_of_two():
    """Significant as both are, the interval of the larger reaches down to what chance gives it, .53."""
    permuted = 0.53 + 0.01 * np.random.default_rng(0).normal(size=(5, 999))
    observed = np.array([0.52, 0.58, 0.62, 0.64, 0.54])
    for signal, expected in (("loss", True), ("larger", False)):
        table = decide(observed, permuted, [np.arange(5)], signal)
        assert table["q"][0] < 0.05
        assert 0.5 < table["low"][0] < 0.53
        assert table["detected"][0] == expected, signal


def test_a_diverged_run_is_a_collapse_and_leaves_its_setting_to_the_other_splits():
    rng = np.random.default_rng(0)
    lost = run(3.0, rng)
    lost.tuned[3, 2, 0] = np.nan
    found = [(0, 1, *judge_run(lost, draws(), (0.1,)))]
    found += [(split, 1, *judge_run(run(3.0, rng), draws(split=split), (0.1,))) for split in range(1, 4)]
    planted = study(found)
    assert planted.runs["outcome_as_written"].tolist() == [COLLAPSE, *[DETECTABLE] * 3]
    assert planted.runs["query_loss_auc"].isna().tolist() == [True, False, False, False]
    assert decisions(planted)["loss"]["auc"][0] == pytest.approx(planted.runs["query_loss_auc"][1:].mean(), abs=1e-6)
    with pytest.raises(ValueError, match="at least two non-members"):
        judge_run(lost._replace(query=lost.context), draws(), (0.1,))


def test_what_a_run_tells_is_what_its_arrays_say():
    rng = np.random.default_rng(0)
    one = run(0.02, rng)
    role = ROLES.copy()
    role[:10] = "context"
    one = one._replace(query=role == "query", context=role == "context")
    found, arrays = judge_run(one, draws(), (0.1,))
    delta = -(one.tuned - one.reference).mean(1)[:, 0]
    assert found["query_loss_auc"] == pytest.approx(roc.auc(delta[10:], role[10:] == "query"))
    beside = (role == "context") | (role == "nonmember")
    assert found["context_loss_auc"] == pytest.approx(roc.auc(delta[beside], (role == "context")[beside]))
    assert (found["query_targets"], found["context_targets"], found["nonmember_targets"]) == (40, 10, 50)
    assert arrays["observed"][0] == pytest.approx(found["query_loss_auc"])
    assert found["query_loss_auc_low"] < found["query_loss_auc"] < found["query_loss_auc_high"]
    assert arrays["alone"].shape == (2, MANIPULATIONS)
    assert found["mu_gap"] == pytest.approx(one.tuned[10:50, :, 0].mean() - one.tuned[50:, :, 0].mean())
    raw = roc.tpr_at_fpr(-one.tuned.mean(1)[10:, 0], role[10:] == "query", 0.1)
    assert found["raw_tpr"] == pytest.approx(float(raw))
    larger = arrays["permuted"].max(0)
    assert found["larger_p"] == (1 + (larger >= found["larger_auc"] - 1e-9).sum()) / 100
    assert found["larger_p"] != found["loss_p"]


def test_raw_flags_are_counted_under_permuted_memberships_too():
    one = run(3.0, np.random.default_rng(0))
    _, arrays = judge_run(one, draws(), (0.1,))
    designs = draws().designs(one.query)
    assert len(arrays["permuted_raw"]) == 20
    for name, values in (("raw", one.tuned), ("reference", one.reference)):
        for place, found in enumerate(arrays[f"permuted_{name}"]):
            assert found == pytest.approx(float(roc.tpr_at_fpr(-values.mean(1)[:, 0], designs[place], 0.1)))


def test_the_effect_of_labels_is_paired_by_record_and_split():
    """The same model twice has a difference of exactly 0; without memory in the other it is that of the AUCs."""
    normal = judged(fall=0.1)
    same = judged(fall=0.1, labels="shuffled_members")
    other = judged(fall=0.0, seed=5, labels="shuffled_members")

    def effects(*studies):
        runs = pd.concat([part.runs for part in studies], ignore_index=True)
        null = xr.concat([part.null for part in studies], "run")
        rows = tidy.expand(tidy.frame([row for row, _, _ in label_effects(Study(runs, null), 0)]))
        return rows[(rows["signal"] == "loss") & (rows["epoch"] == 10)].iloc[0]

    none = effects(normal, same)
    assert (none["estimate"], none["low"], none["high"]) == (0, 0, 0)
    some = effects(normal, other)
    late = [part.runs[part.runs["epoch"] == 10]["query_loss_auc"].mean() for part in (normal, other)]
    assert some["estimate"] == pytest.approx(late[0] - late[1], abs=1e-6)
    assert some["low"] > 0


def test_summaries_are_students_t_over_splits_that_have_a_value():
    found = summary(np.array([0.5, 0.6, np.nan, 0.7]))
    assert found["estimate"] == pytest.approx(0.6)
    assert found["high"] - found["estimate"] == pytest.approx(4.302653 * 0.1 / np.sqrt(3), rel=1e-6)
    assert "3 of 4 splits" in found["method"]
    assert "low" not in summary(np.array([np.nan]))


def test_shares_resample_splits_with_all_their_runs():
    """40 runs that agree within 5 splits are 5 pieces of evidence, and 0 of 5 is not certain."""
    runs = pd.DataFrame({"dataset": "wine", "split": np.repeat(np.arange(5), 8)})
    resampled = Resampled(400, 0)
    together = resampled.mean((runs["split"] < 2).to_numpy(), runs)
    apart = resampled.mean(np.arange(40) % 5 < 2, runs)
    assert together["estimate"] == apart["estimate"] == 0.4
    assert together["high"] - together["low"] > 3 * (apart["high"] - apart["low"])
    none = resampled.mean(np.zeros(40), runs)
    assert none["low"] == 0
    assert none["high"] == pytest.approx(0.4345, abs=1e-3)  # Wilson's for 0 of 5
