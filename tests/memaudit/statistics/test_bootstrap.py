"""The two-way bootstrap: weights, shortcuts against plain resampling, and what it is for."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import t

from memaudit.statistics import bootstrap, roc
from memaudit.statistics.bootstrap import (
    auc_replicates,
    interval,
    linear_auc,
    per_record_tpr,
    pooled_tpr,
    rate,
    tpr_replicates,
    two_way_weights,
)

SHAPE = (24, 30)
FPRS = np.array([0.1, 0.02])


@pytest.fixture
def cells():
    rng = np.random.default_rng(8)
    member = rng.random(SHAPE) < 0.5
    return rng.normal(size=SHAPE) + member + rng.normal(size=SHAPE[1]), member


@pytest.fixture
def weights():
    return two_way_weights(*SHAPE, 40, np.random.default_rng(9))


def resampled(cells, weights):
    """Every replicate as an array of its own: rows and columns repeated."""
    for of_model, of_record in zip(weights.models.astype(int), weights.records.astype(int), strict=True):
        yield tuple(x.repeat(of_model, axis=0).repeat(of_record, axis=1) for x in cells)


def test_replicates_equal_plain_resampling_of_rows_and_columns(cells, weights):
    ranking = roc.rank(*cells)
    areas, rates = auc_replicates(ranking, SHAPE, weights), tpr_replicates(ranking, FPRS, SHAPE, weights)
    for i, (scores, member) in enumerate(resampled(cells, weights)):
        assert areas[i] == pytest.approx(roc.auc(scores, member), abs=1e-12)
        np.testing.assert_allclose(rates[i], roc.tpr_at_fpr(scores, member, FPRS), atol=1e-12)


@pytest.mark.parametrize("decimals", [7, 0])
@pytest.mark.parametrize("fpr", [0.3, 0.1, 0.004])
def test_strict_quantile_rates_equal_plain_resampling_with_ties_too(cells, weights, fpr, decimals):
    scores, member = np.round(cells[0], decimals).T.astype(np.float32), cells[1].T
    pooled, averaged = pooled_tpr(scores, member, fpr, weights), per_record_tpr(scores, member, fpr, weights)
    for i, (of_model, of_record) in enumerate(zip(weights.models, weights.records, strict=True)):
        drawn = [x.repeat(of_model.astype(int), 1).repeat(of_record.astype(int), 0) for x in (scores, member)]
        values, inside = drawn[0].astype(float), drawn[1]
        assert pooled[i] == pytest.approx((values[inside] > np.quantile(values[~inside], 1 - fpr)).mean(), abs=1e-12)
        each = [(v[m] > np.quantile(v[~m], 1 - fpr)).mean() for v, m in zip(values, inside, strict=True)]
        assert averaged[i] == pytest.approx(np.mean(each), abs=1e-12)


def test_rates_of_given_hits_equal_plain_resampling(cells, weights):
    hits, member = (cells[0] > 1) & cells[1], cells[1]
    pooled = rate(hits.T, member.T, weights)
    averaged = rate(hits.T, member.T, weights, per_record=True)
    for i, (hit, inside) in enumerate(resampled((hits, member), weights)):
        assert pooled[i] == pytest.approx(hit.sum() / inside.sum())
        assert averaged[i] == pytest.approx((hit.sum(0) / inside.sum(0)).mean())


def test_linear_auc_of_large_grids_has_the_exact_interval():
    rng = np.random.default_rng(4)
    member = rng.random((128, 100)) < 0.5
    scores = np.round(rng.normal(size=member.shape) + member * rng.random(100), 2)
    ranking, weights = roc.rank(scores, member), two_way_weights(128, 100, 200, rng)
    exact, linear = (
        interval(auc_replicates(ranking, member.shape, weights)),
        interval(linear_auc(ranking, member.shape, weights)),
    )
    np.testing.assert_allclose(linear, exact, atol=(exact[1] - exact[0]) / 20)


def test_large_grids_take_the_linear_auc(cells, weights, monkeypatch):
    ranking = roc.rank(*cells)
    exact = auc_replicates(ranking, SHAPE, weights)
    monkeypatch.setattr(bootstrap, "EXACT_CELLS", 100)
    linear = auc_replicates(ranking, SHAPE, weights)
    np.testing.assert_array_equal(linear, linear_auc(ranking, SHAPE, weights))
    assert np.abs(linear - exact).max() > 0


def test_records_of_a_group_are_drawn_together():
    groups = np.array([7, 7, 2, 2, 2, 9])
    records = two_way_weights(4, 6, 50, np.random.default_rng(0), groups).records
    for group in (7, 2, 9):
        assert (records[:, groups == group] == records[:, groups == group][:, :1]).all()
    np.testing.assert_array_equal(records[:, [0, 2, 5]].sum(1), 3)


def test_cells_that_share_records_get_the_wide_interval_they_need():
    """Copies of one record are one record: a cell-wise interval would shrink with their number."""
    rng = np.random.default_rng(3)
    member = rng.random((16, 10)) < 0.5
    scores = rng.normal(size=(16, 10)) + member * rng.normal(size=10)

    def width(copies, groups):
        many = np.repeat(scores, copies, axis=1), np.repeat(member, copies, axis=1)
        weights = two_way_weights(16, 10 * copies, 400, np.random.default_rng(1), groups)
        low, high = interval(auc_replicates(roc.rank(*many), many[0].shape, weights))
        return high - low

    assert width(20, np.arange(10).repeat(20)) == pytest.approx(width(1, None), rel=0.15)
    assert width(20, None) < 0.8 * width(1, None)


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
