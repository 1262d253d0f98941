"""Rank correlations: planted relations are detected with covering intervals, unrelated values are not."""

import numpy as np
import pytest
from scipy.stats import spearmanr

from memaudit.statistics import rank_correlation


def test_a_planted_relation_is_found_and_its_interval_covers_it():
    rng = np.random.default_rng(5)
    rho, covered, detected = 0.6, 0, 0
    for _ in range(30):
        a = rng.standard_normal(150)
        b = rho * a + np.sqrt(1 - rho**2) * rng.standard_normal(150)
        found = rank_correlation.rank_correlation(a, b, rng, replicates=60)
        covered += found.low <= 6 / np.pi * np.arcsin(rho / 2) <= found.high
        detected += found.detected
    assert covered >= 26
    assert detected == 30


def test_shuffled_predictors_foretell_nothing():
    rng = np.random.default_rng(6)
    a, b = np.arange(100.0), rng.exponential(size=100)
    found = [rank_correlation.rank_correlation(a, rng.permutation(b), rng, replicates=40) for _ in range(40)]
    assert sum(one.detected for one in found) <= 6
    assert np.mean([one.p_value for one in found]) == pytest.approx(0.5, abs=0.16)


def test_records_of_a_unit_are_drawn_together():
    rng = np.random.default_rng(7)
    a, b = rng.standard_normal((2, 25))
    b += a
    alone = rank_correlation.rank_correlation(a, b, np.random.default_rng(0), replicates=200)
    copied = rank_correlation.rank_correlation(
        a.repeat(8), b.repeat(8), np.random.default_rng(0), np.arange(25).repeat(8), replicates=200
    )
    assert copied.high - copied.low == pytest.approx(alone.high - alone.low, rel=0.2)


def test_a_constant_predictor_has_no_correlation():
    found = rank_correlation.rank_correlation(np.arange(9.0), np.ones(9), np.random.default_rng(0), replicates=20)
    assert np.isnan(found.estimate)
    assert not found.detected


def test_auc_that_grows_with_the_columns_is_found():
    features, aucs = [2, 2, 4, 4, 8, 8, 30], np.array([0.6, 0.61, 0.65, 0.64, 0.7, 0.72, 0.8])
    found = rank_correlation.correlation_over_variants(features, aucs, np.random.default_rng(11))
    assert found.metric == "spearman features"
    assert found.estimate == pytest.approx(spearmanr(features, aucs)[0])
    assert 0.6 < found.low < found.estimate < found.high <= 1
    assert found.detected
    alone = rank_correlation.correlation_over_variants([4, 4], aucs[:2], np.random.default_rng(0))
    assert np.isnan([alone.estimate, alone.low, alone.high, alone.p_value]).all()


def test_a_perfect_order_of_three_variants_says_nothing():
    """It comes by chance in one of six draws. A bootstrap of the variants gave [0.7, 1]."""
    found = rank_correlation.correlation_over_variants([2, 4, 13], np.array([0.6, 0.7, 0.8]), np.random.default_rng(0))
    assert found.estimate == pytest.approx(1)
    assert (found.low, found.high) == (-1, 1)
    assert found.p_value == pytest.approx(1 / 3, abs=0.06)
    assert not found.detected


def test_copies_of_a_record_are_no_evidence_that_a_predictor_foretells():
    rng = np.random.default_rng(19)
    found = []
    for _ in range(40):
        a, b = rng.standard_normal((2, 12)).repeat(8, axis=1)
        found.append(rank_correlation.rank_correlation(a, b, rng, np.arange(12).repeat(8), replicates=40).p_value)
    assert np.mean(np.array(found) <= 0.05) <= 0.15
    assert np.mean(found) == pytest.approx(0.5, abs=0.16)


def test_a_predictor_that_nobody_has_is_no_error():
    found = rank_correlation.rank_correlation(
        np.arange(5.0), np.full(5, np.nan), np.random.default_rng(0), replicates=20
    )
    assert (found.n, np.isnan(found.estimate)) == (0, True)


def test_rank_shares_end_at_one_and_ties_share_theirs():
    assert rank_correlation.rank_shares(np.array([5.0, 1.0, 3.0, 3.0])).tolist() == [1.0, 0.25, 0.625, 0.625]


@pytest.mark.parametrize("records", [8, 12])
def test_a_perfect_order_gets_no_point_as_interval(records):
    """The percentile bootstrap of few records is often the point 1."""
    covered, truth = 0, 6 / np.pi * np.arcsin(0.4)
    for seed in range(100):
        rng = np.random.default_rng(seed)
        outcome = rng.normal(size=records)
        found = rank_correlation.rank_correlation(outcome, 0.8 * outcome + 0.6 * rng.normal(size=records), rng)
        covered += found.low <= truth <= found.high
        assert found.low < found.high
    assert covered >= 90


@pytest.mark.parametrize(("records", "shown"), [(7, False), (8, True)])
def test_few_records_have_no_interval_but_a_p_value(records, shown):
    """Of 5 strongly correlated records a bootstrap covers in 85 %."""
    rng = np.random.default_rng(0)
    found = rank_correlation.rank_correlation(*rng.standard_normal((2, records)), rng, replicates=60)
    assert np.isfinite([found.low, found.high]).all() == shown
    assert np.isfinite(found.p_value)


def test_the_correlation_of_eight_records_is_covered():
    rng, covered = np.random.default_rng(2), 0
    for _ in range(150):
        a, noise = rng.standard_normal((2, 8))
        found = rank_correlation.rank_correlation(a, 0.8 * a + 0.6 * noise, rng, replicates=60)
        covered += found.low <= 6 / np.pi * np.arcsin(0.4) <= found.high
    assert covered >= 138


def test_units_of_different_sizes_do_not_make_a_correlation():
    """A unit's records share predictor and outcome: the correlation of all records is that of a few large units."""
    units = np.repeat(np.arange(20), [100, 50, 25, 12, 6, 3] + [1] * 14)
    p_values = []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        outcome, predictor = rng.normal(size=(2, 20))[:, units]
        p_values.append(rank_correlation.rank_correlation(outcome, predictor, rng, units, replicates=39).p_value)
    # Three standard errors above .05; the correlation of all records rejects in 60 %.
    assert np.mean(np.array(p_values) <= 0.05) <= 0.1
