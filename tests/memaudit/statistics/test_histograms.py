"""Histograms as shares: nothing is lost beyond the edges."""

import numpy as np
import pytest

from memaudit.statistics.histograms import bin_shares, quantile_edges, rank_bins


def test_values_beyond_the_edges_are_in_the_outermost_bins():
    shares = bin_shares(np.array([-9.0, 0.5, 1.5, 1.5, np.inf]), np.array([0.0, 1.0, 2.0]))
    assert shares.tolist() == pytest.approx([0.4, 0.6])


def test_edges_lie_between_the_outer_quantiles():
    edges = quantile_edges(np.arange(101.0), 7)
    assert (edges[0], edges[-1], len(edges)) == (1.0, 99.0, 8)
    assert np.ptp(np.diff(edges)) == pytest.approx(0, abs=1e-12)


def test_equal_values_have_bins_of_total_width_one():
    assert quantile_edges(np.full(9, 3.0), 2).tolist() == [3.0, 3.5, 4.0]
    assert bin_shares(np.full(9, 3.0), np.array([3.0, 3.5, 4.0])).tolist() == [1.0, 0.0]


def test_bins_by_rank_hold_equal_numbers_and_ties_stay_together():
    values = np.column_stack([np.arange(12)[::-1], np.repeat([5, 7, 9], 4)])
    bins = rank_bins(values, 4)
    assert np.bincount(bins[:, 0]).tolist() == [3, 3, 3, 3]
    assert bins[0, 0] == 3
    assert bins[:, 1].tolist() == [0] * 4 + [1] * 4 + [2] * 4
