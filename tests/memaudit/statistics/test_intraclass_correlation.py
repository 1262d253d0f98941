"""The intraclass correlation against the recorded example of Shrout and Fleiss (1979)."""

import numpy as np
import pytest

from memaudit.statistics.intraclass_correlation import icc

# Six targets (the "splits") rated by four judges (the "runs"); their ICC(3,1) = ICC(C,1) is .71.
RATINGS = np.array([[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]], float).T


def test_the_estimate_is_the_recorded_one():
    residuals = RATINGS - RATINGS.mean(axis=1, keepdims=True)
    common = residuals.mean(axis=0)
    within = np.square(residuals - common).sum() / (5 * 3)
    found = icc(common.var(ddof=1), within, 4, 6)
    assert found["estimate"] == pytest.approx(0.7148, abs=1e-4)
    assert found["low"] < found["estimate"] < found["high"]


def test_runs_that_deviate_alike_have_one_and_runs_without_a_common_part_less_than_zero():
    assert icc(1.0, 0.0, 4, 6) == {"estimate": 1.0, "low": 1.0, "high": 1.0}
    assert icc(0.0, 1.0, 4, 6)["estimate"] == pytest.approx(-1 / 3)


@pytest.mark.parametrize("heavy", [False, True])
def test_the_share_of_these_splits_is_covered_whatever_their_distribution(heavy):
    """An interval for other splits covers in 86 % where deviations of 5 splits are of Student's t_3."""
    rng, covered = np.random.default_rng(0), 0
    for _ in range(400):
        common = rng.standard_t(3, 5) if heavy else rng.standard_normal(5)
        grid = common + rng.standard_normal((12, 5))
        residuals = grid - grid.mean(1, keepdims=True)
        between = residuals.mean(0).var(ddof=1)
        within = np.square(residuals - residuals.mean(0)).sum() / (11 * 4)
        found, true = icc(between, within, 12, 5), common.var(ddof=1)
        assert found["low"] <= found["estimate"] <= found["high"]
        covered += found["low"] <= true / (true + 1) <= found["high"]
    assert 0.92 < covered / 400 < 0.975


def test_a_larger_ratio_of_variances_has_a_higher_interval():
    found = [icc(between, 1.0, 12, 5) for between in (0.01, 0.5, 2.0)]
    assert found[0]["low"] < 0.1
    assert found[0]["high"] < found[1]["high"] < found[2]["high"]
    assert found[1]["low"] < found[2]["low"]
