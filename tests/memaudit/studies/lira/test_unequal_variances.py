"""What unequal variances cost the one-sided test."""

import numpy as np
import pytest

from memaudit.studies.lira.unequal_variances import compare_tests, likelihood_ratio_tpr, one_sided_tpr


@pytest.mark.parametrize(("delta", "ratio"), [(1, 1.5), (1, 0.5), (0, 2), (0, 0.5), (3, 0.8), (2, 1.0), (0.5, 5)])
@pytest.mark.parametrize("fpr", [0.1, 0.01])
def test_the_best_test_is_the_simulated_likelihood_ratio(delta, ratio, fpr):
    rng = np.random.default_rng(0)
    outside, inside = rng.normal(size=400_000), delta + ratio * rng.normal(size=400_000)
    noise = 1e-9 * rng.random(400_000)

    def statistic(x):
        return x**2 / 2 - (x - delta) ** 2 / (2 * ratio**2) + noise

    simulated = (statistic(inside) > np.quantile(statistic(outside), 1 - fpr)).mean()
    assert likelihood_ratio_tpr(delta, ratio, fpr) == pytest.approx(simulated, abs=0.005)


@pytest.mark.parametrize("fpr", [0.1, 0.01, 0.001])
def test_the_one_sided_test_is_never_better_and_is_best_where_variances_are_equal(fpr):
    rng = np.random.default_rng(0)
    delta, ratio = rng.random(500) * 4, np.exp(rng.normal(size=500))
    gain = likelihood_ratio_tpr(delta, ratio, fpr) - one_sided_tpr(delta, ratio, fpr)
    assert gain.min() > -1e-9
    for near in (1 - 1e-7, 1.0, 1 + 1e-7):
        np.testing.assert_allclose(likelihood_ratio_tpr(delta, near, fpr), one_sided_tpr(delta, 1.0, fpr), atol=1e-5)


def test_two_equal_gaussians_cannot_be_told_apart():
    assert likelihood_ratio_tpr(0.0, 1.0, 0.01) == pytest.approx(0.01)


def test_diagnostics_find_negative_gaps_and_narrow_members():
    rng = np.random.default_rng(0)
    design = rng.random((400, 40)).argsort(0) < 200
    negative, narrow = np.arange(40) < 10, np.arange(40) >= 30
    gap = np.where(negative, -2.0, 2.0)
    signals = rng.normal(size=design.shape) * np.where(design & narrow, 0.1, 1.0) + gap * design
    found = compare_tests(signals, design, 0.01)
    np.testing.assert_array_equal(found.gap < 0, negative)
    np.testing.assert_allclose(found.ratio[narrow], 0.1, rtol=0.25)
    np.testing.assert_allclose(found.ratio[~narrow], 1.0, rtol=0.25)
    assert (found.best[narrow] > found.one_sided[narrow] + 0.01).all()
