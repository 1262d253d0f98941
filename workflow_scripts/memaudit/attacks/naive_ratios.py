"""LiRA's log-likelihood ratios computed the naive way, to compare `attacks.lira` with in time and value.

Leave-one-out fits (`leave="self"`) by the convention "mean".
"""

import numpy as np

from memaudit.attacks.gaussian import CONVENTIONS, Gaussian
from memaudit.common.arrays import Array, Mask


def plain_ratios(signals: Array, member: Mask) -> Array:
    """Scores (model, record) from sums over the whole matrix of squares, in float64: not for large levels."""
    signals = signals.astype(np.float64)

    def log_density(inside: Mask) -> Array:
        count = inside.sum(0) - inside
        mean = ((signals * inside).sum(0) - signals * inside) / count
        square = ((signals**2 * inside).sum(0) - signals**2 * inside) / count
        sigma = np.sqrt(np.maximum(square - mean**2, 1e-24))
        return -np.log(sigma) - 0.5 * ((signals - mean) / sigma) ** 2

    return log_density(member) - log_density(~member)


def ratios_by_record(signals: Array, member: Mask) -> Array:
    """Scores (model, record) record by record and target by target, every fit from its own shadow models."""
    rule = CONVENTIONS["mean"]
    scores = np.empty(signals.shape)
    for record in range(signals.shape[1]):
        values, inside = signals[:, record].astype(np.float64), member[:, record]
        for target in range(len(values)):
            fits = []
            for side in (inside, ~inside):
                shadow = np.delete(values, target)[np.delete(side, target)]
                fits.append(Gaussian(shadow.mean(), max(shadow.std(), rule.floor)))
            scores[target, record] = fits[0].log_density(values[target]) - fits[1].log_density(values[target])
    return scores
