"""The simulation gives the published numbers, and the correction predicts what an independent population shows."""

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from memaudit.common.errors import AuditError
from memaudit.statistics.finite_population import (
    correction,
    one_sided_test,
    predicted_tpr,
    simulate,
)
from memaudit.statistics.record_vulnerability import Gap, gap_statistics

SIDES = ("out", "in")


def draw(kind, models, population, size, rng):
    uniforms = rng.random((models, population))
    return uniforms < size / population if kind == "bernoulli" else uniforms.argsort(1).argsort(1) < size


def mean_ratio(kind, size, side, *, factor=1.0, populations=4):
    ratios = []
    for seed in range(populations):
        rng = np.random.default_rng(seed)
        ratios.append(simulate(draw(kind, 2048, 1000, size, rng), size, rng).ratio(side, factor).mean())
    return np.mean(ratios)


def test_correction_has_the_paper_form_and_the_exact_one_of_each_side():
    assert correction(500, 1000, "paper") == 0.5
    assert correction(500, 1000) == pytest.approx(1 - 500 / 999)
    assert correction(500, 1000, side="in") == pytest.approx(1 - 499 / 999)
    with pytest.raises(ValueError, match="no finite population correction"):
        correction(999, 1000)


@pytest.mark.parametrize("side", ["in", "out"])
def test_exact_correction_is_the_variance_of_a_mean_over_all_draws(side):
    values = np.random.default_rng(0).standard_normal(7)
    companions = 3 - (side == "in")
    sums = [sum(group) / 3 for group in combinations(values[1:], companions)]
    expected = companions * values[1:].var(ddof=1) / 9 * correction(3, 7, side=side)
    assert np.var(sums) == pytest.approx(expected)


@pytest.mark.parametrize(("kind", "expected"), [("fixed_size", 0.704), ("bernoulli", 0.707)])
def test_simulated_ratio_has_the_published_value(kind, expected):
    assert mean_ratio(kind, 500, "out") == pytest.approx(expected, abs=0.003)


@pytest.mark.parametrize("side", ["in", "out"])
@pytest.mark.parametrize("size", [125, 500, 750])
def test_correction_recovers_the_analytic_sigma_on_average_over_records(size, side):
    assert mean_ratio("fixed_size", size, side, factor=correction(size, 1000, side=side)) == pytest.approx(1, abs=0.01)


def test_bernoulli_draws_of_an_eighth_leave_the_in_side_too_wide():
    assert mean_ratio("bernoulli", 125, "in", factor=correction(125, 1000)) == pytest.approx(1.013, abs=0.005)


def test_most_single_records_scatter_by_more_than_a_hundredth():
    rng = np.random.default_rng(0)
    ratio = simulate(draw("fixed_size", 2048, 1000, 500, rng), 500, rng).ratio("out", correction(500, 1000))
    assert 0.1 < (np.abs(ratio - 1) < 0.01).mean() < 0.4


def test_a_record_without_models_on_one_side_is_named():
    design = np.ones((6, 3), dtype=bool)
    design[:3, :2] = False
    with pytest.raises(AuditError, match=r"position 2 .* raise the number"):
        gap_statistics(np.zeros((6, 3)), design)
    with pytest.raises(AuditError, match="position 2 "):
        one_sided_test(np.zeros((6, 3)), design, np.ones(3), 0.1)


def test_predicted_tpr_is_the_normal_tail_with_each_side_corrected():
    gap = Gap(np.array([-3.0, 0.5]), np.array([1.5, 1.0]), np.array([1.0, 2.0]))
    sigma_out, sigma_in = gap.sigma_out / np.sqrt(0.5), gap.sigma_in / np.sqrt(0.6)
    threshold = stats.norm.isf(0.01, scale=sigma_out)
    expected = stats.norm.sf(threshold, loc=np.abs(gap.delta), scale=sigma_in)
    assert predicted_tpr(gap, 0.01, 0.5, 0.6) == pytest.approx(expected)
    assert (predicted_tpr(gap, 0.01) > expected)[0]


def test_one_sided_test_equals_refitting_without_each_out_cell():
    rng = np.random.default_rng(2)
    signals, design = rng.standard_normal((12, 4)), draw("fixed_size", 4, 12, 5, rng).T
    direction = np.array([1, -1, 1, -1])
    called = one_sided_test(signals, design, direction, 0.2)
    for model, record in np.ndindex(signals.shape):
        others = ~design[:, record] & (np.arange(12) != model)
        values = signals[others, record]
        margin = stats.t.isf(0.2, values.size - 1) * np.sqrt(1 + 1 / values.size) * values.std(ddof=1)
        assert called[model, record] == (direction[record] * (signals[model, record] - values.mean()) > margin)


def test_one_sided_test_has_its_nominal_fpr_with_few_models():
    rng = np.random.default_rng(3)
    design = draw("fixed_size", 4000, 16, 8, rng).T
    called = one_sided_test(rng.standard_normal(design.shape), design, np.ones(4000), 0.01)
    assert called[~design].mean() == pytest.approx(0.01, abs=0.002)


def test_only_the_corrected_prediction_of_a_small_superset_meets_the_population():
    """The study's use: N of 2N records predict what contexts of N out of 20N show for the same records."""
    size, population, dimensions, fpr = 28, 560, 60, 0.05
    rates = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        x = rng.standard_normal((population, dimensions))
        grids = []
        for records in (2 * size, population):
            design = draw("fixed_size", 4096, records, size, rng)
            grids.append(((design @ x[:records] / size) @ x[: 2 * size].T, design[:, : 2 * size]))
        gap = gap_statistics(*grids[0])
        factors = [correction(size, 2 * size, side=side) / correction(size, population, side=side) for side in SIDES]
        measured = one_sided_test(*grids[1], np.sign(gap.delta), fpr)[grids[1][1]].mean()
        rates.append((predicted_tpr(gap, fpr).mean(), predicted_tpr(gap, fpr, *factors).mean(), measured))
    predicted, corrected, measured = np.mean(rates, 0)
    assert predicted - measured > 0.15
    assert corrected == pytest.approx(measured, abs=0.02)
