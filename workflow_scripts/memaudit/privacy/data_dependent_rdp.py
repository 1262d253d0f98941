"""Data-dependent Renyi DP of GNMax and of the threshold test (Papernot et al. 2018, Theorem 6, Propositions 7 to 10).

Where the PATE teachers agree, the noisy plurality is nearly certain, and reveals less than its worst case. The bound is
a function of q, the probability of another outcome than the likeliest, and of the order. It depends on the votes, so
that it is private itself: it may neither be published nor decide when to stop (smooth_sensitivity.py). No release of
this project uses it; docs/mechanism-costs.md has what it would buy.

q is that of continuous Gaussian noise, bounded by the sum over the other classes. One changed record moves one
teacher: two counts of GNMax, the largest count of the test by one, which is GNMax with sqrt(2) times the sigma.
"""

import math
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike
from scipy import optimize, special

from memaudit.common.arrays import Array, Indices
from memaudit.common.errors import AuditError

LEAST = -1e5  # log q below it counts as this: the bound rises with q
LOWEST_BRACKET = -1e4


def log_q(counts: Indices, sigma: float) -> Array:
    """(query,) log of a bound on the probability that GNMax has another outcome than the largest count (Prop. 7).

    counts: (query, class).
    """
    ordered = -np.sort(-np.asarray(counts, np.float64), axis=1)
    behind = special.log_ndtr((ordered[:, 1:] - ordered[:, :1]) / (sigma * math.sqrt(2)))
    return np.minimum(special.logsumexp(behind, axis=1), math.log1p(-1 / ordered.shape[1]))


def log_answered(largest: ArrayLike, threshold: float, sigma: float) -> Array:
    """Log of the probability that the noisy largest count reaches the threshold."""
    return special.log_ndtr((np.asarray(largest, np.float64) - threshold) / sigma)


def gnmax_rdp(log_q: ArrayLike, sigma: float, order: float) -> Array:
    """Renyi divergence at an order of one label, for each log q: at most order / sigma^2, the worst case (Prop. 8)."""
    start = dependent_from(sigma, order)
    log_q = np.maximum(np.asarray(log_q, np.float64), LEAST)
    dependent = _dependent(np.minimum(log_q, start), sigma, order)
    return np.where(log_q < start, np.clip(dependent, 0.0, order / sigma**2), order / sigma**2)


def threshold_rdp(largest: ArrayLike, threshold: float, sigma: float, order: float) -> Array:
    """Renyi divergence at an order of one threshold test, for each largest count; sigma: of the noise on it.

    The rarer outcome in log space: where the probability of the other one rounds to 1, the cost is still not 0.
    """
    answered = log_answered(largest, threshold, sigma)
    refused = special.log_ndtr((threshold - np.asarray(largest, np.float64)) / sigma)
    return gnmax_rdp(np.minimum(answered, refused), math.sqrt(2) * sigma, order)


@lru_cache(maxsize=4096)
def dependent_from(sigma: float, order: float) -> float:
    """Log of q0, below which the data-dependent bound holds and is the smaller one."""
    largest = -max((1 + 1 / sigma) ** 2, ((order - 0.99) / sigma) ** 2, 1 / sigma**2)
    if order <= 1 or not _is_valid(largest, sigma, order):
        raise AuditError(f"data-dependent bound: none at order {order:g} with sigma {sigma:g}; give a larger order")
    excess = lambda log_q: float(_dependent(log_q, sigma, order)) - order / sigma**2  # noqa: E731
    if excess(largest) < 0:
        return largest
    least = 2 * largest
    while excess(least) > 0:
        if least < LOWEST_BRACKET:
            raise AuditError(f"data-dependent bound: it never helps at order {order:g} with sigma {sigma:g}")
        least *= 1.5
    return float(optimize.brentq(excess, least, largest))


def _is_valid(log_q: float, sigma: float, order: float) -> bool:
    """Conditions of Theorem 6, with the two higher orders of Proposition 10."""
    second = sigma * math.sqrt(-log_q)
    if second <= 1 or second + 1 < order:
        return False
    both = math.log1p(1 / second) + math.log1p(1 / (second - 1))
    return log_q <= (second - 1) * second / sigma**2 - second * both and -log_q > second / sigma**2


def _dependent(log_q: ArrayLike, sigma: float, order: float) -> Array:
    """The bound of Theorem 6 in log space, whether or not its conditions hold."""
    log_q = np.asarray(log_q, np.float64)
    second = sigma * np.sqrt(-log_q)
    sure = np.log1p(-np.exp(log_q))
    log_a = sure - np.log1p(-np.exp((log_q + second / sigma**2) * (1 - 1 / second)))
    log_b = (second + 1) / sigma**2 - log_q / second
    return np.logaddexp(sure + (order - 1) * log_a, log_q + (order - 1) * log_b) / (order - 1)
