"""Crossed random effects: variances of balanced grids, coverage, contrasts, and what is taken as given."""

import numpy as np
import pytest
from scipy.stats import t

from memaudit.common import seeds
from memaudit.statistics.crossed_intervals import Crossed, CrossedGrid, averaged, smallest
from memaudit.studies.coverage.few_unit_cases import crossed_effects

RNG = np.random.default_rng(4)


def grid(models, corpora):
    rows, columns = np.mgrid[:models, :corpora].reshape(2, -1)
    return CrossedGrid.of_mean(np.full(len(rows), 1 / len(rows)), models=rows, corpora=columns)


def mean(values, of, **facts):
    return Crossed.mean(values, np.repeat(values[:, None], 20, 1), of, 100, **facts)


def mean_squares(table):
    """Of models, of corpora, and residual."""
    models, corpora = table.shape
    rows, columns = table.mean(1) - table.mean(), table.mean(0) - table.mean()
    left = table - table.mean() - rows[:, None] - columns
    freedoms = (models - 1, corpora - 1, (models - 1) * (corpora - 1))
    sums = (corpora * (rows @ rows), models * (columns @ columns), (left**2).sum())
    return [one / freedom for one, freedom in zip(sums, freedoms, strict=True)], freedoms


def test_a_balanced_grid_has_the_variance_of_the_analysis_of_variance():
    table = RNG.normal(size=(5, 1)) + 2 * RNG.normal(size=4) + RNG.normal(size=(5, 4))
    (models, corpora, left), freedoms = mean_squares(table)
    spread = grid(5, 4).spread(table.ravel())
    assert spread.variance == pytest.approx((models + corpora - left) / 20)
    squares = sum(one**2 / freedom for one, freedom in zip((models, corpora, left), freedoms, strict=True))
    assert spread.freedom == pytest.approx((models + corpora - left) ** 2 / squares)
    low, high = mean(table.ravel(), grid(5, 4)).interval()
    assert (high - low) / 2 == pytest.approx(t.ppf(0.975, spread.freedom) * np.sqrt(spread.variance))
    assert (low + high) / 2 == pytest.approx(table.mean())


def test_a_factor_without_effect_leaves_the_variance_of_the_other():
    table = np.arange(6.0)[:, None] + np.zeros(4)
    assert grid(6, 4).spread(table.ravel()).variance == pytest.approx(3.5 / 6)
    assert grid(6, 4).spread(table.ravel()).freedom == pytest.approx(5)


@pytest.mark.parametrize(("models", "corpora", "effect"), [(4, 3, 0.03), (8, 4, 0.03), (8, 4, 0.0), (8, 2, 0.03)])
def test_simulated_means_are_covered(models, corpora, effect):
    """About 95 % of 300; the bootstrap of single combinations covered 64 to 90 % of them."""
    trials = (
        crossed_effects(seeds.generator(seed, models, corpora), models, corpora, of_corpora=effect)["mean"]
        for seed in range(300)
    )
    covered = np.mean([one.low <= one.truth <= one.high for one in trials])
    assert 0.915 <= covered <= 0.985


def test_fewer_than_three_corpora_are_taken_as_given_and_the_method_says_so():
    table = np.array([0.0, 10.0]) + np.arange(4)[:, None]  # corpora far apart
    one = mean(table.ravel(), grid(4, 2))
    assert one.grid.given == ("corpora",)
    assert "models (4), given the corpora (2, too few)" in one.method
    low, high = one.interval()
    assert (high - low) / 2 == pytest.approx(t.ppf(0.975, 3) * np.std(range(4), ddof=1) / 2)
    assert "corpora (3, fewer than 4)" in mean(np.zeros(12), grid(4, 3)).method
    assert "corpora (4)" in mean(np.zeros(16), grid(4, 4)).method


def test_noise_of_texts_alone_is_counted_once():
    """Two models and two corpora are given: the replicates decide. Of four models they add nothing that shows there."""
    noise = RNG.normal(size=(4, 400))
    low, high = Crossed.mean(np.zeros(4), noise, grid(2, 2), 10_000).interval()
    assert (high - low) / 2 == pytest.approx(1.96 * noise.mean(0).std(ddof=1), rel=0.01)
    values, noise = RNG.normal(size=12), RNG.normal(scale=0.3, size=(12, 400))
    spread = grid(4, 3).spread(values)
    low, high = Crossed.mean(values, noise, grid(4, 3), 10_000).interval()
    expected = t.ppf(0.975, spread.freedom) * np.sqrt(spread.variance)
    assert (high - low) / 2 == pytest.approx(expected, rel=0.05)


def test_paired_values_are_subtracted_and_others_are_contrasted():
    ease, lead = RNG.normal(size=12), 0.01 * RNG.normal(size=12)
    low, high = (mean(ease + lead, grid(4, 3)) - mean(ease, grid(4, 3))).interval()
    assert high - low < 0.2
    text = CrossedGrid.of_mean(np.full(12, 1 / 12), models=np.repeat(range(4), 3), corpora=np.tile(range(3), 4))
    code = CrossedGrid.of_mean(np.full(12, 1 / 12), models=np.repeat(range(4), 3), corpora=np.tile(range(3, 6), 4))
    of_models = np.repeat([0.0, 5.0, 10.0, 50.0], 3)
    gap = mean(of_models + 1, text) - mean(of_models, code)
    assert gap.observed == pytest.approx(1)
    assert gap.interval() == pytest.approx((1, 1))  # the same models on both sides cancel
    others = CrossedGrid.of_mean(np.full(12, 1 / 12), models=np.repeat(range(4, 8), 3), corpora=np.tile(range(3), 4))
    low, high = (mean(of_models + 1, text) - mean(of_models, others)).interval()
    alone = grid(4, 3).spread(of_models)
    assert (high - low) / 2 == pytest.approx(t.ppf(0.975, 6) * np.sqrt(2 * alone.variance))


def test_a_group_of_one_model_has_the_variance_of_the_other_groups_models():
    three = CrossedGrid.of_mean(np.full(9, 1 / 9), models=np.repeat(range(3), 3), corpora=np.tile(range(3), 3))
    one = CrossedGrid.of_mean(np.full(3, 1 / 3), models=np.full(3, 9), corpora=np.arange(3))
    gap = mean(np.repeat([0.0, 1.0, 2.0], 3), three) - mean(np.zeros(3), one)
    spread = gap.grid.spread(gap.values)
    assert spread.variance == pytest.approx(1 / 3 + 1)  # deviation 1 among models: of a mean of three, and of one
    assert spread.freedom == pytest.approx(2)


def test_a_ratio_is_that_of_the_means_and_its_interval_multiplies():
    values = 0.3 + 0.05 * RNG.normal(size=12)
    ratio = (mean(2 * values, grid(4, 3)).logarithm() - mean(values, grid(4, 3)).logarithm()).ratio()
    assert ratio == pytest.approx((2, 2, 2))
    other = values + 0.02 * RNG.normal(size=12)
    estimate, low, high = (mean(2 * other, grid(4, 3)).logarithm() - mean(values, grid(4, 3)).logarithm()).ratio()
    assert estimate == pytest.approx(2 * other.mean() / values.mean())
    assert low * high == pytest.approx(estimate**2)


def test_seeds_and_draws_add_their_jackknife_variance():
    values = np.zeros(4)
    draws = RNG.normal(size=(5, 1)) + np.zeros(4)
    without = (draws.sum(0) - draws) / 4
    low, high = mean(values, grid(2, 2), repeats=without).interval()
    assert (high - low) / 2 == pytest.approx(t.ppf(0.975, 4) * draws[:, 0].std(ddof=1) / np.sqrt(5))
    several = averaged([mean(values + shift, grid(2, 2)) for shift in draws[:, 0]])
    assert several.observed == pytest.approx(draws.mean())
    assert several.interval()[1] - several.observed == pytest.approx((high - low) / 2)


@pytest.mark.long
@pytest.mark.parametrize("truths", [(0.02, 0.02, 0.02, 0.02), (0.02, 0.05, 0.3, 0.4)])
def test_the_interval_of_the_smallest_quantity_covers_whichever_the_data_choose(truths):
    rng, covered, studies = seeds.generator(1, "smallest"), 0, 400
    for _ in range(studies):
        parts = []
        for truth in truths:
            effects = rng.normal(size=(5, 1)) + rng.normal(size=4) + rng.normal(size=(5, 4))
            parts.append(mean(truth + 0.05 * effects.ravel(), grid(5, 4)))
        chosen, low, high = smallest(parts)
        assert low <= parts[chosen].observed
        covered += low <= min(truths) <= high
    assert covered / studies > 0.95 - 3 * np.sqrt(0.95 * 0.05 / studies)


def test_the_smallest_quantity_has_no_interval_where_one_has_none():
    values = np.full(20, 0.1)
    assert np.isnan(smallest([mean(values, grid(5, 4)), mean(values - np.inf, grid(5, 4))])[1])
