"""Paired differences of attacks: coverage, common noise, names and observed values."""

import numpy as np
import pytest
from scipy.stats import norm

from memaudit.statistics.bootstrap import two_way_weights
from memaudit.statistics.paired_differences import differences, metric_samples


def grid(rng, gaps, models=64):
    """Signals of deviation 1 that are `gaps` higher where a record is in."""
    gaps = np.asarray(gaps, dtype=float)
    design = rng.random((models, len(gaps))).argsort(0).argsort(0) < models // 2
    return design * gaps + rng.standard_normal(design.shape), design


def test_an_attack_does_not_differ_from_itself():
    rng = np.random.default_rng(8)
    pair = grid(rng, np.ones(30))
    for one in differences(pair, pair, fprs=[0.1], rng=rng, replicates=20):
        assert (one.estimate, one.low, one.high, one.detected) == (0, 0, 0, False)


def test_the_difference_of_two_attacks_covers_the_planted_one_and_pairs_are_narrower():
    rng = np.random.default_rng(9)
    gaps, covered, widths = (1.0, 0.5), 0, []
    truth = np.subtract(*norm.cdf(np.array(gaps) / np.sqrt(2)))
    for _ in range(12):
        design = grid(rng, np.zeros(40))[1]
        hard_models = rng.standard_normal((2, 64, 1))
        noise = 0.5 * rng.standard_normal((2, 64, 40))
        sigma = np.sqrt(1.25)
        paired = [(design * gap * sigma + hard_models[0] + of, design) for gap, of in zip(gaps, noise, strict=True)]
        other = grid(rng, np.zeros(40))[1]
        alone = [paired[0], (other * gaps[1] * sigma + hard_models[1] + noise[1], other)]
        both = [differences(*of, fprs=[0.1], rng=rng, replicates=60)[0] for of in (paired, alone)]
        covered += sum(one.low <= truth <= one.high for one in both)
        widths.append([one.high - one.low for one in both])
    assert covered >= 21
    assert np.mean(widths, 0)[0] < 0.75 * np.mean(widths, 0)[1]


def test_differences_name_their_metrics_and_are_one_minus_the_other():
    rng = np.random.default_rng(10)
    strong, weak = grid(rng, np.full(40, 3.0)), grid(rng, np.zeros(40))
    auc, tpr = differences(strong, weak, fprs=[0.05], rng=rng, replicates=40)
    assert (auc.metric, tpr.metric) == ("auc difference", "tpr@0.05 difference")
    assert auc.estimate == pytest.approx(norm.cdf(3 / np.sqrt(2)) - 0.5, abs=0.02)
    assert tpr.estimate == pytest.approx(norm.cdf(3 - norm.isf(0.05)) - 0.05, abs=0.04)
    assert auc.low > 0.3
    assert auc.detected
    assert tpr.detected


def test_metric_samples_of_one_weight_each_are_the_metrics_themselves():
    rng = np.random.default_rng(12)
    signals, design = grid(rng, np.ones(20))
    weights = two_way_weights(*design.shape, 2, rng)
    weights.models[0], weights.records[0] = 1, 1
    observed, samples = metric_samples(signals, design, [0.1], weights)
    np.testing.assert_allclose(samples[0], observed)
    assert not np.allclose(samples[1], observed)


def test_a_difference_at_an_fpr_of_fewer_than_two_non_members_has_no_interval():
    rng = np.random.default_rng(0)
    member = np.arange(60) % 2 == np.arange(8)[:, None] % 2
    scores = rng.normal(size=member.shape) + 3 * member
    found = differences((scores, member), (rng.normal(size=member.shape), member), fprs=[0.1, 0.005], rng=rng)
    assert np.isnan([one.low for one in found]).tolist() == [False, False, True]
    assert [one.detected for one in found] == [True, True, False]
