"""A small score matrix and plain resampling of its rows and columns, which bootstrap shortcuts must equal."""

import numpy as np

from memaudit.statistics.bootstrap import two_way_weights

SHAPE = (24, 30)
FPRS = np.array([0.1, 0.02])


_DRAW = np.random.default_rng(8)
_MEMBER = _DRAW.random(SHAPE) < 0.5
# Scores and membership matrix, (model, record); weights of 40 replicates.
CELLS = _DRAW.normal(size=SHAPE) + _MEMBER + _DRAW.normal(size=SHAPE[1]), _MEMBER
WEIGHTS = two_way_weights(*SHAPE, 40, np.random.default_rng(9))


def resampled(cells, weights):
    """Every replicate as an array of its own: rows and columns repeated."""
    for of_model, of_record in zip(weights.models.astype(int), weights.records.astype(int), strict=True):
        yield tuple(x.repeat(of_model, axis=0).repeat(of_record, axis=1) for x in cells)
