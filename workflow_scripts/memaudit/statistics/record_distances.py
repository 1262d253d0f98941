"""Distances between records in a standardised feature space, and to each record's nearest neighbours."""

import numpy as np
from scipy.spatial.distance import cdist

from memaudit.common.arrays import Array, Codes, Mask

BLOCK = 512  # records whose distances to all others are in memory at once


def standardised(x: Array, categorical: Mask, reference: Mask) -> Array:
    """Records as points in a space in which all columns are on one scale, (record, dimension).

    x: (record, column), NaN where missing; categorical: (column,) columns of category codes; reference: (record,)
    records that means and deviations are estimated from. Numbers are divided by the reference deviation; categories are
    one-hot with weight 1/sqrt(2), so that two categories have distance 1; missing values are at the reference mean.
    """
    parts = [_one_hot(values) if kind else values[:, None] for values, kind in zip(x.T, categorical, strict=True)]
    codes = np.repeat(categorical, [part.shape[1] for part in parts])
    space = np.column_stack(parts).astype(np.float64)
    known = np.isfinite(space) & reference[:, None]
    count = np.maximum(known.sum(0), 1)
    mean = np.where(known, space, 0.0).sum(0) / count
    sigma = np.sqrt(np.where(known, (space - mean) ** 2, 0.0).sum(0) / count)
    scale = np.where(codes, np.sqrt(2), np.where(sigma > 0, sigma, 1.0))
    return np.nan_to_num((space - mean) / scale)


def _one_hot(values: Array) -> Array:
    categories = np.unique(values[np.isfinite(values)])
    return np.where(np.isnan(values)[:, None], np.nan, values[:, None] == categories)


def neighbour_distances(space: Array, labels: Codes, units: Codes, neighbours: int) -> dict[str, Array]:
    """Mean distance of every record to its nearest `neighbours`: "all", of its "own class", of the "other classes".

    space: (record, dimension); labels, units: (record,). Records of the same unit are no neighbours. The mean is over
    fewer records where there are fewer, and NaN where there is none. Arrays (record,).
    """
    blocks = []
    for block in np.array_split(np.arange(len(space)), -(-len(space) // BLOCK)):
        distance = cdist(space[block], space)
        distance[units[block][:, None] == units] = np.inf
        own = labels[block][:, None] == labels
        groups = {"all": np.ones_like(own), "own class": own, "other classes": ~own}
        blocks.append({name: _nearest(np.where(among, distance, np.inf), neighbours) for name, among in groups.items()})
    return {name: np.concatenate([block[name] for block in blocks]) for name in blocks[0]}


def _nearest(distance: Array, neighbours: int) -> Array:
    nearest = np.sort(np.partition(distance, min(neighbours, distance.shape[1]) - 1)[:, :neighbours])
    exists = np.isfinite(nearest)
    with np.errstate(invalid="ignore"):
        return np.where(exists, nearest, 0.0).sum(1) / exists.sum(1)
