"""The two-way bootstrap: weights, shortcuts against plain resampling, and what it is for."""

from dataclasses import replace

import numpy as np
import pytest
from plain_resampling import CELLS, WEIGHTS, resampled
from scipy.stats import t

from memaudit.statistics import bootstrap
from memaudit.statistics.attack_performance import judge
from memaudit.statistics.bootstrap import (
    interval,
    rate,
    two_way_weights,
)


def test_rates_of_given_hits_equal_plain_resampling():
    hits, member = (CELLS[0] > 1) & CELLS[1], CELLS[1]
    pooled = rate(hits.T, member.T, WEIGHTS)
    averaged = rate(hits.T, member.T, WEIGHTS, per_record=True)
    for i, (hit, inside) in enumerate(resampled((hits, member), WEIGHTS)):
        assert pooled[i] == pytest.approx(hit.sum() / inside.sum())
        assert averaged[i] == pytest.approx((hit.sum(0) / inside.sum(0)).mean())


def test_records_of_a_group_are_drawn_together():
    groups = np.array([7, 7, 2, 2, 2, 9])
    records = two_way_weights(4, 6, 50, np.random.default_rng(0), groups).records
    for group in (7, 2, 9):
        assert (records[:, groups == group] == records[:, groups == group][:, :1]).all()
    np.testing.assert_array_equal(records[:, [0, 2, 5]].sum(1), 3)


def test_quantiles_lie_between_the_values_beside_them():
    np.testing.assert_allclose(bootstrap.quantiles(np.array([0.0, 1.0, 4.0]), [0, 0.25, 0.75, 1]), [0, 0.5, 2.5, 4])


def test_an_interval_of_mostly_undefined_replicates_is_undefined():
    assert np.isnan(interval(np.array([0.1, np.nan, np.nan]))).all()


def test_the_percentile_interval_leaves_a_fortieth_on_either_side():
    assert interval(np.arange(1.0, 40.0)) == pytest.approx((1.0, 39.0))
    assert interval(np.arange(1.0, 200.0)) == pytest.approx((5.0, 195.0))


def test_intervals_of_a_few_units_cover_as_students_t():
    """Percentile intervals of 5 units cover in 81 % (docs/coverage.md)."""
    rng, covered = np.random.default_rng(0), np.zeros(2)
    for _ in range(400):
        values = rng.standard_normal(5)
        means = two_way_weights(1, 5, 200, rng).records @ values / 5
        pairs = interval(means), bootstrap.widened(means, values.mean(), 5)
        covered += [low <= 0 <= high for low, high in pairs]
    assert covered[0] / 400 < 0.87
    assert 0.91 < covered[1] / 400 < 0.98


def test_a_single_unit_has_no_interval_and_a_rate_stays_a_rate():
    means = np.linspace(0.2, 0.6, 50)
    assert np.isnan(bootstrap.widened(means, 0.4, 1)).all()
    assert bootstrap.widened(means, 0.4, 2, 0, 1) == (0, 1)
    assert np.isnan(bootstrap.mean_interval(np.array([0.5]), 50, np.random.default_rng(0))).all()


@pytest.mark.parametrize("few_are_models", [True, False])
def test_a_two_way_interval_is_widened_by_the_side_that_varies(few_are_models):
    """5 units of one side, 400 of the other: the factor is 1.58 if the 5 differ and 1.01 if they do not."""
    rng = np.random.default_rng(2)
    weights = two_way_weights(5, 400, 300, rng) if few_are_models else two_way_weights(400, 5, 300, rng)
    few, many = (weights.models, weights.records) if few_are_models else (weights.records, weights.models)
    of_few, of_many = few @ rng.standard_normal(5) / 5, many @ rng.standard_normal(400) / 400
    for sample, units in ((of_few, 5), (of_many, 400)):
        ends = bootstrap.two_way_interval(sample, sample.mean(), weights)
        assert ends == pytest.approx(bootstrap.widened(sample, sample.mean(), units), rel=0.05)


def test_two_to_four_units_of_records_have_no_interval():
    rng = np.random.default_rng(3)
    for units in (2, 3, 4):
        weights = two_way_weights(20, 30, 100, rng, np.arange(30) % units)
        assert np.isnan(bootstrap.two_way_interval(rng.standard_normal(100), 0.0, weights)).all()


def test_the_side_of_a_single_model_or_unit_is_not_resampled():
    rng = np.random.default_rng(3)
    sample = rng.standard_normal(100)
    one_model, one_group = two_way_weights(1, 9, 100, rng), two_way_weights(9, 30, 100, rng, np.zeros(30, int))
    for weights in (one_model, one_group):
        assert bootstrap.two_way_interval(sample, 0.0, weights) == bootstrap.widened(sample, 0.0, 9)


def test_the_mean_of_splits_has_the_interval_of_their_number():
    rng = np.random.default_rng(4)
    observed = rng.standard_normal(6)
    samples = observed[:, None] + np.zeros((6, 100))
    weights = two_way_weights(1, 6, 100, rng).records
    ends = bootstrap.mean_of_units(observed, samples, weights)
    assert ends == pytest.approx(bootstrap.widened(weights @ observed / 6, observed.mean(), 6))


@pytest.mark.parametrize(("models", "records"), [(1, 20), (16, 20), (16, 1)])
def test_a_complete_leak_has_an_interval_that_covers_a_nearly_complete_one(models, records):
    """d = 3: AUC .983 and TPR .993. Resamples of a matrix in which every member is found find every member."""
    covered, complete = [], 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        member = rng.permuted(
            np.arange(models * records).reshape(models, records) % 2 == 0, axis=1 if models == 1 else 0
        )
        found = judge(rng.normal(size=member.shape) + 3 * member, member, fprs=[0.3], rng=rng)
        covered.append([one.low <= truth <= one.high for one, truth in zip(found, (0.983, 0.993), strict=True)])
        complete += found[0].estimate == 1
        assert all(one.low < one.high for one in found)
    assert np.mean(covered, axis=0).min() >= 0.9
    assert complete >= 20 or models * records > 20


@pytest.mark.parametrize("count", [3, 5, 10])
def test_means_of_a_few_skewed_values_are_covered(count):
    """Student's t covers the mean of 5 exponential values in 88 %."""
    rng, covered = np.random.default_rng(1), np.zeros(3)
    for _ in range(600):
        values = rng.exponential(size=count)
        half = t.ppf(0.975, count - 1) * values.std(ddof=1) / count**0.5
        pairs = [(values.mean() - half, values.mean() + half), bootstrap.t_interval(values)]
        pairs.append(bootstrap.mean_interval(values, 200, rng))
        covered += [low <= 1 <= high for low, high in pairs]
    # 0.88 to 0.90, and 0.94 to 0.96, with a standard error of 0.01.
    assert covered[0] / 600 < 0.92 < covered[1:].min() / 600


def test_weights_say_how_few_units_have_no_interval():
    rng = np.random.default_rng(0)
    weights = two_way_weights(1, 8, 100, rng)
    sample = weights.records @ rng.standard_normal(8) / 8
    assert np.isfinite(bootstrap.two_way_interval(sample, 0.0, weights)).all()
    assert np.isnan(bootstrap.two_way_interval(sample, 0.0, replace(weights, fewest=10))).all()


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_a_share_of_none_or_all_has_the_interval_of_its_trials(share):
    """Of 50 units: 3 / 50, or less by so much, is still possible; 10 duplicates of each are no further evidence."""
    rng = np.random.default_rng(0)
    ends = sorted([share, abs(share - (1 - 0.025 ** (1 / 50)))])
    assert bootstrap.mean_interval(np.full(50, share), 60, rng, None, 0, 1) == pytest.approx(ends)
    copies = np.arange(50).repeat(10)
    assert bootstrap.mean_interval(np.full(500, share), 60, rng, copies, 0, 1) == pytest.approx(ends)
    assert bootstrap.widened(np.full(60, share), share, 50, 0, 1) == pytest.approx(ends)
    assert bootstrap.widened(np.full(60, share), share, 50) == (share, share)


def test_units_of_different_sizes_count_as_fewer_equal_ones():
    assert bootstrap.effective_units(np.repeat(np.arange(7), 3)) == pytest.approx(7)
    assert bootstrap.effective_units(np.repeat(np.arange(21), [20] + [1] * 20)) == pytest.approx(40**2 / 420)


def test_records_of_which_one_unit_has_half_have_no_interval():
    """Their mean is hardly known better than that unit's."""
    rng, units = np.random.default_rng(0), np.repeat(np.arange(21), [20] + [1] * 20)
    member = rng.random((16, 21))[:, units] < 0.5
    found = judge(rng.normal(size=member.shape), member, fprs=[0.1], rng=rng, groups=units)
    assert np.isnan([one.low for one in found]).all()
