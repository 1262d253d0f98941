"""What GNMax cost given the votes: smaller than the guarantee where teachers agree, and private itself.

For diagnostics behind closed doors. These numbers are functions of the votes: never publish them, never stop on them.
They are for continuous noise, as in Papernot et al. 2018 ("Scalable private learning with PATE"), and for one direction
alone: the divergence of these votes' outcome from a neighbour's. The reverse may be larger, up to the guarantee.
"""

import numpy as np
from scipy import special

from memaudit.arrays import Array
from memaudit.privacy.accounting import epsilon_of_curve
from memaudit.privacy.gnmax import Confident, Votes

# The orders of the authors' analysis.
ORDERS = np.concatenate([np.arange(2, 100.5, 0.5), np.geomspace(100, 500, 100)])


def confident_epsilon(votes: Votes, settings: Confident, delta: float, orders: Array = ORDERS) -> float:
    """Epsilon of asking all these queries given their votes, (query, class), in expectation over who is answered."""
    return epsilon_of_curve(orders, confident_rdp(votes, settings, orders).sum(axis=0), delta)


def confident_rdp(votes: Votes, settings: Confident, orders: Array = ORDERS) -> Array:
    """RDP of Confident-GNMax given the votes, (query, class): (query, order), labels weighted by P(answered)."""
    label = gnmax_rdp(log_wrong(votes, settings.sigma2), settings.sigma2, orders)
    if settings.threshold is None:
        return label
    answered, abstained = log_answered(votes, settings)
    # The largest count moves by 1 where two counts of a label do: as if the noise were sqrt(2) times as large.
    check = gnmax_rdp(np.minimum(answered, abstained), np.sqrt(2) * settings.sigma1, orders)
    return check + np.exp(answered)[:, None] * label


def log_answered(votes: Votes, settings: Confident) -> tuple[Array, Array]:
    """Log of the probabilities that queries are answered, and that they are not: (query,) each.

    The published code takes the second from the first. Where P(answered) rounds to 1 it charges an RDP of 0 for the
    check, at all orders; the truth is the data-independent cost at the large ones.
    """
    distance = (votes.max(axis=1) - settings.threshold) / settings.sigma1
    return special.log_ndtr(distance), special.log_ndtr(-distance)


def log_wrong(votes: Votes, sigma: float) -> Array:
    """Log of an upper bound on the probability that GNMax does not return the plurality (Proposition 7): (query,)."""
    ordered = np.sort(votes, axis=1)
    gaps = ordered[:, -1:] - ordered[:, :-1]
    bound = special.logsumexp(special.log_ndtr(-gaps / (np.sqrt(2) * sigma)), axis=1)
    return np.minimum(bound, np.log1p(-1 / votes.shape[1]))


def gnmax_rdp(log_q: Array, sigma: float, orders: Array) -> Array:
    """RDP of GNMax where another outcome than the likeliest has a probability of at most q: (query, order).

    Theorem 6 with the orders mu of Proposition 10; a / sigma^2 where that is less or Theorem 6 does not apply.
    """
    independent = np.broadcast_to(orders / sigma**2, (len(log_q), len(orders)))
    mu2 = sigma * np.sqrt(-log_q)
    mu1 = mu2 + 1
    epsilon1, epsilon2 = mu1 / sigma**2, mu2 / sigma**2
    with np.errstate(all="ignore"):  # outside of `applies` anything may come out
        # Both conditions of the theorem on q: it lies where the bound grows with q, and A below is positive.
        grows = log_q <= (mu2 - 1) * epsilon2 - mu2 * (np.log1p(1 / (mu1 - 1)) + np.log1p(1 / (mu2 - 1)))
        applies = (mu2 > 1) & grows & (-log_q > epsilon2)
        log_right = _log1mexp(log_q)
        log_a = log_right - _log1mexp((log_q + epsilon2) * (1 - 1 / mu2))
        log_b = epsilon1 - log_q / (mu1 - 1)
        powers = orders - 1
        dependent = (
            np.logaddexp(log_right[:, None] + log_a[:, None] * powers, log_q[:, None] + log_b[:, None] * powers)
            / powers
        )
        use = applies[:, None] & (orders < mu1[:, None]) & (dependent < independent)
    return np.where(use, dependent, independent)


def _log1mexp(x: Array) -> Array:
    """log(1 - e^x) for x <= 0, without cancellation."""
    return np.where(x < -1, np.log1p(-np.exp(x)), np.log(-np.expm1(x)))
