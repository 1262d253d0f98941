"""Replicates of AUC and TPR: shortcuts against plain resampling."""

import numpy as np
import pytest
from plain_resampling import CELLS, FPRS, SHAPE, WEIGHTS, resampled

from memaudit.statistics import roc, roc_replicates
from memaudit.statistics.bootstrap import interval, two_way_weights
from memaudit.statistics.roc_replicates import auc_replicates, linear_auc, tpr_replicates


def test_replicates_equal_plain_resampling_of_rows_and_columns():
    ranking = roc.rank(*CELLS)
    areas, rates = auc_replicates(ranking, SHAPE, WEIGHTS), tpr_replicates(ranking, FPRS, SHAPE, WEIGHTS)
    for i, (scores, member) in enumerate(resampled(CELLS, WEIGHTS)):
        assert areas[i] == pytest.approx(roc.auc(scores, member), abs=1e-12)
        np.testing.assert_allclose(rates[i], roc.tpr_at_fpr(scores, member, FPRS), atol=1e-12)


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


def test_large_grids_take_the_linear_auc(monkeypatch):
    ranking = roc.rank(*CELLS)
    exact = auc_replicates(ranking, SHAPE, WEIGHTS)
    monkeypatch.setattr(roc_replicates, "EXACT_CELLS", 100)
    linear = auc_replicates(ranking, SHAPE, WEIGHTS)
    np.testing.assert_array_equal(linear, linear_auc(ranking, SHAPE, WEIGHTS))
    assert np.abs(linear - exact).max() > 0


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
