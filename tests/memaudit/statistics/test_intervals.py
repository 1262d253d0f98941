"""Closed-form intervals: coverage, edges and means of data sets."""

import numpy as np
import pytest
from scipy.stats import binom, binomtest, spearmanr

from memaudit.statistics import intervals


@pytest.mark.parametrize("features", [[2, 4, 8, 30], [2, 2, 4, 4, 8, 8, 30]])
def test_variants_that_are_unrelated_have_intervals_with_zero(features):
    rng = np.random.default_rng(18)
    drawn = [intervals.spearman(spearmanr(features, rng.random(len(features)))[0], len(features)) for _ in range(400)]
    low, high = np.transpose(drawn)
    assert ((low > 0) | (high < 0)).mean() < 0.08
    # Of 7 some relations are told from none.
    assert ((low > 0) | (high < 0)).any() == (len(features) == 7)


def test_the_mean_over_data_sets_is_as_sure_as_their_number():
    low, high = np.array([0.5, 0.6, 0.7, 0.8]), np.array([0.6, 0.7, 0.8, 0.9])
    mean, bottom, top = intervals.mean_of((low + high) / 2, low, high)
    assert mean == pytest.approx(0.7)
    assert (bottom, top) == pytest.approx((0.675, 0.725))


def test_the_mean_of_one_data_set_is_that_one_and_of_rates_stays_a_rate():
    assert intervals.mean_of(np.array([0.78]), np.array([0.0]), np.array([1.0])) == pytest.approx((0.78, 0, 1))
    rng = np.random.default_rng(0)
    for _ in range(100):
        low, rate, high = np.sort(rng.beta(0.3, 0.3, size=(3, 4)), axis=0)
        mean, bottom, top = intervals.mean_of(rate, low, high)
        assert 0 <= bottom <= mean <= top <= 1


def test_the_interval_of_a_mean_covers_it_where_the_rates_are_near_one():
    rng, truth, count = np.random.default_rng(0), np.array([0.97, 0.9, 0.8]), 60
    covered = 0
    for hits in rng.binomial(count, truth, size=(400, 3)):
        low, high = np.transpose([intervals.clopper_pearson(hit, count) for hit in hits])
        _, bottom, top = intervals.mean_of(hits / count, low, high)
        covered += bottom <= truth.mean() <= top
    assert 0.92 < covered / 400 < 0.985


def test_clopper_and_pearson_is_scipys():
    for hits, count in ((0, 5), (3, 7), (9, 9)):
        ours = binomtest(hits, count).proportion_ci(method="exact")
        assert intervals.clopper_pearson(hits, count) == pytest.approx((ours.low, ours.high), abs=1e-12)


@pytest.mark.parametrize("count", [5, 20])
def test_every_share_of_few_trials_is_covered(count):
    """Exactly, by the binomial distribution: Wilson's interval covers a share of .1 of 5 in 91 %."""
    ends = np.array([intervals.clopper_pearson(hits, count) for hits in range(count + 1)])
    for share in np.linspace(0.005, 0.995, 199):
        covered = (ends[:, 0] <= share) & (share <= ends[:, 1])
        assert binom.pmf(np.arange(count + 1), count, share)[covered].sum() >= 0.95


def test_a_share_of_several_records_per_unit_lies_between_whole_numbers_of_units():
    low, high = intervals.clopper_pearson(2.5, 6)
    assert intervals.clopper_pearson(2, 6)[0] < low < intervals.clopper_pearson(3, 6)[0]
    assert intervals.clopper_pearson(2, 6)[1] < high < intervals.clopper_pearson(3, 6)[1]


@pytest.mark.parametrize("correlation", [0.3, 0.8, 1.0])
def test_intervals_of_rank_correlations_are_symmetric_and_hold_their_estimate(correlation):
    low, high = intervals.spearman(correlation, 20)
    assert low <= correlation <= high
    assert intervals.spearman(-correlation, 20) == pytest.approx((-high, -low))


def test_a_share_of_dependent_trials_has_the_interval_of_its_effective_number():
    independent = intervals.korn_graubard(0.1, 0.1 * 0.9 / 500, 500, 500)
    assert independent == pytest.approx(intervals.clopper_pearson(50, 500))
    dependent = intervals.korn_graubard(0.1, 5 * 0.1 * 0.9 / 500, 500, 500)
    assert dependent == pytest.approx(intervals.clopper_pearson(10, 100))
    # Less variance than independent trials have is not believed, and few units count as Student's t does.
    assert intervals.korn_graubard(0.1, 1e-9, 500, 500) == pytest.approx(independent)
    few = intervals.korn_graubard(0.1, 0.1 * 0.9 / 500, 500, 5)
    assert few[0] < independent[0] < independent[1] < few[1]


@pytest.mark.parametrize(("share", "variance"), [(0.1, 1.9e-34), (0.0, 0.0), (1.0, 0.0)])
def test_a_share_without_variance_counts_as_of_its_units(share, variance):
    assert intervals.korn_graubard(share, variance, 30, 1) == pytest.approx(intervals.clopper_pearson(share, 1))


def test_a_share_that_is_missing_has_no_interval():
    assert np.isnan(intervals.korn_graubard(np.nan, np.nan, 0, 0)).all()
