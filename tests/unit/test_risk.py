"""Planted exposures are found, planted relations and changes too; without them there is nothing."""

import numpy as np
import pytest
from scipy.special import expit, logit
from scipy.stats import norm, spearmanr

from memaudit.calibration.calibrate import calibrate
from memaudit.calibration.lira import resolution_floor
from memaudit.evaluation import intervals, risk, roc
from memaudit.evaluation.bootstrap import two_way_weights
from memaudit.evaluation.differences import differences, metric_samples
from memaudit.evaluation.utility import judge_utility, utility_differences


def grid(rng, gaps, models=64):
    """Signals of deviation 1 that are `gaps` higher where a record is in."""
    gaps = np.asarray(gaps, dtype=float)
    design = rng.random((models, len(gaps))).argsort(0).argsort(0) < models // 2
    return design * gaps + rng.standard_normal(design.shape), design


def test_the_effect_size_is_the_gap_in_pooled_deviations():
    rng = np.random.default_rng(0)
    signals, design = grid(rng, [1.5, -0.5])
    signals[:, 1] *= 3
    found = risk.effect_sizes(signals, design, rng, 50)
    for record in range(2):
        inside, outside = (signals[side[:, record], record] for side in (design, ~design))
        sigma = np.sqrt((inside.var(ddof=1) + outside.var(ddof=1)) / 2)
        assert found[record, 0] == pytest.approx((inside.mean() - outside.mean()) / sigma)


def test_the_interval_of_an_effect_size_covers_the_planted_one():
    rng = np.random.default_rng(1)
    gaps = np.repeat([0.0, 1.0, 3.0], 100)
    _, low, high = risk.effect_sizes(*grid(rng, gaps, 128), rng, 400).T
    covered = ((low <= gaps) & (gaps <= high)).reshape(3, 100).mean(1)
    assert (covered >= 0.88).all()
    # Wider ones would cover too: the standard error of d = 0 is 2 / sqrt(128).
    assert (high - low)[:100].mean() == pytest.approx(2 * 1.96 * 2 / np.sqrt(128), rel=0.1)


def test_a_resample_has_the_mean_and_squares_of_the_models_that_it_drew():
    signals, side = grid(np.random.default_rng(17), [0.0, 5.0], 8)
    drawn = np.array([2, 0, 1, 3, 0, 0, 1, 1])
    shift, squares = risk._resampled(signals, side, drawn[None].astype(float))
    for record in range(2):
        values = signals[:, record].repeat(drawn)[side[:, record].repeat(drawn)]
        assert shift[0, record] == pytest.approx(values.mean() - signals[side[:, record], record].mean())
        assert squares[0, record] == pytest.approx(values.var() * len(values))


def test_large_signals_of_a_small_spread_lose_no_digits():
    signals, design = grid(np.random.default_rng(2), [0.5, 2.0])
    both = signals, 20 + 1e-6 * signals
    plain, small = (risk.effect_sizes(of, design, np.random.default_rng(0), 50) for of in both)
    np.testing.assert_allclose(small, plain, rtol=1e-6)


def test_a_constant_signal_exposes_nobody():
    _, design = grid(np.random.default_rng(3), [0.0])
    found = risk.effect_sizes(np.full(design.shape, 27.6), design, np.random.default_rng(0), 50)
    np.testing.assert_array_equal(found, [[0, 0, 0]])


def test_columns_are_standardised_on_the_reference_and_categories_lie_one_apart():
    x = np.array([[0.0, 0], [10, 1], [20, 2], [np.nan, 0], [500, np.nan]])
    reference = np.array([True, False, True, True, False])
    space = risk.standardised(x, np.array([False, True]), reference)
    np.testing.assert_allclose(space[:, 0], [-1, 0, 1, 0, 49])  # mean 10, deviation 10 of the known reference values
    distance = np.linalg.norm(space[:3, None, 1:] - space[None, :3, 1:], axis=-1)
    np.testing.assert_allclose(distance, 1 - np.eye(3))
    # An unknown category lies at the mean of the reference: codes 0, 2, 0.
    np.testing.assert_allclose(space[4, 1:], 0)
    np.testing.assert_allclose(space[0, 1:] * np.sqrt(2), [1 / 3, 0, -1 / 3])


def test_neighbours_are_the_nearest_of_other_units():
    space = np.array([[0.0], [0.1], [1.0], [3.0], [7.0]])
    labels, units = np.array([0, 1, 0, 0, 1]), np.array([0, 0, 1, 2, 3])
    near = risk.neighbour_distances(space, labels, units, 2)
    np.testing.assert_allclose(near["all"], [2, 1.9, 0.95, 2.45, 5])
    np.testing.assert_allclose(near["own class"], [2, 6.9, 1.5, 2.5, 6.9])
    # The first record's unit holds the other class at 0.1: it does not count.
    np.testing.assert_allclose(near["other classes"], [7, 1.9, 3.45, 3.45, 5])


def test_neighbours_do_not_depend_on_the_block(monkeypatch):
    rng = np.random.default_rng(4)
    space, labels = rng.standard_normal((30, 3)), rng.integers(0, 2, 30)
    whole = risk.neighbour_distances(space, labels, np.arange(30), 3)
    monkeypatch.setattr(risk, "BLOCK", 7)
    parted = risk.neighbour_distances(space, labels, np.arange(30), 3)
    for name in whole:
        np.testing.assert_allclose(parted[name], whole[name])


def test_a_class_of_one_record_has_no_neighbour_of_its_own():
    near = risk.neighbour_distances(np.array([[0.0], [1], [2]]), np.array([0, 0, 1]), np.arange(3), 5)
    np.testing.assert_allclose(near["own class"], [1, 1, np.nan])
    found = risk.rank_correlation(np.array([1.0, 2, 3]), near["own class"], np.random.default_rng(0), replicates=20)
    assert found.n == 2


def test_a_planted_relation_is_found_and_its_interval_covers_it():
    rng = np.random.default_rng(5)
    rho, covered, detected = 0.6, 0, 0
    for _ in range(30):
        a = rng.standard_normal(150)
        b = rho * a + np.sqrt(1 - rho**2) * rng.standard_normal(150)
        found = risk.rank_correlation(a, b, rng, replicates=60)
        covered += found.low <= 6 / np.pi * np.arcsin(rho / 2) <= found.high
        detected += found.detected
    assert covered >= 26
    assert detected == 30


def test_shuffled_predictors_foretell_nothing():
    rng = np.random.default_rng(6)
    a, b = np.arange(100.0), rng.exponential(size=100)
    found = [risk.rank_correlation(a, rng.permutation(b), rng, replicates=40) for _ in range(40)]
    assert sum(one.detected for one in found) <= 6
    assert np.mean([one.p_value for one in found]) == pytest.approx(0.5, abs=0.16)


def test_records_of_a_unit_are_drawn_together():
    rng = np.random.default_rng(7)
    a, b = rng.standard_normal((2, 25))
    b += a
    alone = risk.rank_correlation(a, b, np.random.default_rng(0), replicates=200)
    copied = risk.rank_correlation(
        a.repeat(8), b.repeat(8), np.random.default_rng(0), np.arange(25).repeat(8), replicates=200
    )
    assert copied.high - copied.low == pytest.approx(alone.high - alone.low, rel=0.2)


def test_a_constant_predictor_has_no_correlation():
    found = risk.rank_correlation(np.arange(9.0), np.ones(9), np.random.default_rng(0), replicates=20)
    assert np.isnan(found.estimate)
    assert not found.detected


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


def test_auc_that_grows_with_the_columns_is_found():
    features, aucs = [2, 2, 4, 4, 8, 8, 30], np.array([0.6, 0.61, 0.65, 0.64, 0.7, 0.72, 0.8])
    found = risk.correlation_over_variants(features, aucs, np.random.default_rng(11))
    assert found.metric == "spearman features"
    assert found.estimate == pytest.approx(spearmanr(features, aucs)[0])
    assert 0.6 < found.low < found.estimate < found.high <= 1
    assert found.detected
    alone = risk.correlation_over_variants([4, 4], aucs[:2], np.random.default_rng(0))
    assert np.isnan([alone.estimate, alone.low, alone.high, alone.p_value]).all()


def test_a_perfect_order_of_three_variants_says_nothing():
    """It comes by chance in one of six draws. A bootstrap of the variants gave [0.7, 1]."""
    found = risk.correlation_over_variants([2, 4, 13], np.array([0.6, 0.7, 0.8]), np.random.default_rng(0))
    assert found.estimate == pytest.approx(1)
    assert (found.low, found.high) == (-1, 1)
    assert found.p_value == pytest.approx(1 / 3, abs=0.06)
    assert not found.detected


@pytest.mark.parametrize("features", [[2, 4, 8, 30], [2, 2, 4, 4, 8, 8, 30]])
def test_variants_that_are_unrelated_have_intervals_with_zero(features):
    rng = np.random.default_rng(18)
    drawn = [intervals.spearman(spearmanr(features, rng.random(len(features)))[0], len(features)) for _ in range(400)]
    low, high = np.transpose(drawn)
    assert ((low > 0) | (high < 0)).mean() < 0.08
    # Of 7 some relations are told from none.
    assert ((low > 0) | (high < 0)).any() == (len(features) == 7)


def test_copies_of_a_record_are_no_evidence_that_a_predictor_foretells():
    rng = np.random.default_rng(19)
    found = []
    for _ in range(40):
        a, b = rng.standard_normal((2, 12)).repeat(8, axis=1)
        found.append(risk.rank_correlation(a, b, rng, np.arange(12).repeat(8), replicates=40).p_value)
    assert np.mean(np.array(found) <= 0.05) <= 0.15
    assert np.mean(found) == pytest.approx(0.5, abs=0.16)


def test_a_predictor_that_nobody_has_is_no_error():
    found = risk.rank_correlation(np.arange(5.0), np.full(5, np.nan), np.random.default_rng(0), replicates=20)
    assert (found.n, np.isnan(found.estimate)) == (0, True)


def test_metric_samples_of_one_weight_each_are_the_metrics_themselves():
    rng = np.random.default_rng(12)
    signals, design = grid(rng, np.ones(20))
    weights = two_way_weights(*design.shape, 2, rng)
    weights.models[0], weights.records[0] = 1, 1
    observed, samples = metric_samples(signals, design, [0.1], weights)
    np.testing.assert_allclose(samples[0], observed)
    assert not np.allclose(samples[1], observed)


@pytest.mark.parametrize("decimals", [0, 1, 2, 3])
def test_rounding_never_yields_infinite_signals_or_scores(decimals):
    rng = np.random.default_rng(13)
    p = np.where(rng.random((32, 200)) < 0.3, rng.integers(0, 2, (32, 200)), rng.random((32, 200)))
    p[:, 0], p[:, 1], p[:16, 2], p[16:, 2] = 0, 1, 0.5, 0.51
    signals = risk.rounded_confidence(p, decimals)
    scores = calibrate(signals, grid(rng, np.zeros(200), 32)[1], "lira", floor=resolution_floor(1))
    assert np.isfinite(signals).all()
    assert np.isfinite(scores).all()
    # A record whose value never leaves two neighbouring steps: not more than one step in floors, squared.
    assert np.abs(scores[:, 2]).max() <= 0.5 * 12 + np.log(2)


def test_a_rounded_signal_counts_steps_at_every_place():
    signals = risk.rounded_confidence(np.array([[0.5, 0.99], [0.5, 1.0], [0.51, 1.0]]), 2)
    per_step = [logit(0.51) - logit(0.49), logit(0.995) - logit(0.99)]
    assert signals[2, 0] - signals[0, 0] == pytest.approx((logit(0.51) - logit(0.5)) / (per_step[0] / 2), rel=1e-3)
    assert signals[1, 1] - signals[0, 1] == pytest.approx(1, abs=0.15)
    np.testing.assert_array_equal(risk.rounded_confidence(np.array([[0.2], [0.9]]), 0), 0)


def test_rounding_hides_small_gaps_and_leaves_large_ones():
    rng = np.random.default_rng(14)
    signals, design = grid(rng, np.full(60, 2.0))
    hidden, shown = (calibrate(risk.rounded_confidence(expit(of), 1), design, "lira", floor=resolution_floor(1))
                     for of in (0.01 * signals + 0.02, signals))  # fmt: skip
    small, large = (roc.auc(scores, design) for scores in (hidden, shown))
    assert small == pytest.approx(0.5, abs=0.01)
    assert large > 0.85


def test_the_layer_is_rounded_up():
    assert [risk.layer_size(0.1, members) for members in (20, 21, 30, 455)] == [2, 3, 3, 46]


def test_accuracies_by_hand():
    correct = np.array([[1, 1, 0, 0], [1, 0, 0, 1]], dtype=bool)
    accuracy, balanced = judge_utility(correct, np.array([0, 0, 0, 2]), rng=np.random.default_rng(0), replicates=50)
    assert (accuracy.metric, accuracy.estimate, accuracy.null) == ("accuracy", 0.5, 0.75)
    assert (balanced.metric, balanced.estimate, balanced.null) == ("balanced accuracy", 0.5, 0.5)
    correct[:, 3] = True
    accuracy, balanced = judge_utility(correct, np.array([0, 0, 0, 2]), rng=np.random.default_rng(0), replicates=50)
    assert accuracy.estimate == pytest.approx(5 / 8)
    assert balanced.estimate == pytest.approx((3 / 6 + 1) / 2)


def test_the_interval_of_an_accuracy_covers_it_where_records_and_models_differ():
    rng = np.random.default_rng(15)
    covered = 0
    for _ in range(40):
        chance = norm.cdf(rng.standard_normal((20, 1)) * 0.5 + rng.standard_normal((1, 80)) * 0.5)
        found = judge_utility(rng.random((20, 80)) < chance, rng.integers(0, 2, 80), rng=rng, replicates=100)
        covered += sum(one.low <= 0.5 <= one.high for one in found)
    assert covered >= 70


def test_common_noise_of_two_accuracies_cancels():
    rng = np.random.default_rng(16)
    usual = rng.random((20, 80)) < norm.cdf(rng.standard_normal((20, 1)))
    changed, labels = usual.copy(), rng.integers(0, 2, 80)
    changed[:, :8] = False
    accuracy, _ = utility_differences(changed, usual, labels, rng=rng, replicates=100)
    assert accuracy.estimate == pytest.approx(changed.mean() - usual.mean())
    assert accuracy.detected
    alone = judge_utility(usual, labels, rng=rng, replicates=100)[0]
    assert accuracy.high - accuracy.low < 0.7 * (alone.high - alone.low)
