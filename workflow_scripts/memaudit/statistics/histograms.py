"""Histograms as shares, with the values beyond the edges counted in the outermost bins, and bins of equal size."""

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from memaudit.common.arrays import Array


def quantile_edges(values: Array, bins: int) -> Array:
    """Edges (bins + 1,) of equal bins between the 1 % and 99 % quantiles; of width 1 in all where these are equal."""
    low, high = np.quantile(values, [0.01, 0.99])
    return np.linspace(low, high if high > low else low + 1, bins + 1)


def bin_shares(values: Array, edges: Array) -> Array:
    """Shares (bin,) of the values (record,) by bin; the first and the last bin include what lies beyond them."""
    return np.histogram(np.clip(values, edges[0], edges[-1]), edges)[0] / len(values)


def rank_bins(values: Array, bins: int) -> NDArray[np.int64]:
    """Bins (record, column), from 0, of values (record, column): by rank, of about equally many records in each column.

    Equal values share a bin.
    """
    return ((rankdata(values, method="min", axis=0) - 1) * bins // len(values)).astype(np.int64)
