"""Release of PATE's data-dependent cost by smooth sensitivity (Papernot et al. 2018, Appendix B; Nissim et al. 2007).

The data-dependent cost of the labels of a run depends on the votes. It is published with Gaussian noise whose size is
the smooth sensitivity of the cost (the mechanism GNSS, Theorem 23), which costs privacy of its own. The order, beta and
sigma must be chosen without the votes.

The cost is that of the queries that were answered, which the labels show. A table at distance d moves the votes of each
query by at most d teachers, often by fewer: the local sensitivity of a query at distance d is the largest one up to d.
The published code takes the one at exactly d, which falls with d for the threshold test; the sum over queries is then
no bound.
"""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy import special

from memaudit.common.arrays import Array, Indices
from memaudit.common.errors import AuditError
from memaudit.privacy.accounting import FINE
from memaudit.privacy.data_dependent_rdp import dependent_from, gnmax_rdp, log_q, threshold_rdp
from memaudit.privacy.discrete_noise import Noise, discrete_gaussian
from memaudit.privacy.gnmax import Confident
from memaudit.privacy.renyi_conversion import epsilon_of_rdp

STEPS = 2**40  # lattice steps of one nat
GRID = np.geomspace(1.0, 100.0, 2000)  # multiples of log q0 at which local sensitivities are compared
ROUNDED = 1e-11  # relative error of log q


@dataclass(frozen=True)
class CostRelease:
    """What the cost is released with, chosen without the votes: order, beta of the smoothing, sigma of the noise."""

    order: float
    beta: float
    sigma: float

    @property
    def rdp(self) -> float:
        """Renyi divergence at the order of releasing the cost (Theorem 23). Raises AuditError unless it is finite."""
        order, beta = self.order, self.beta
        if not (order > 1 and beta > 0 and 2 * order * beta < 1 and self.sigma > 0):
            raise AuditError(
                f"release of the cost: order {order:g} needs a beta in (0, {1 / (2 * order):g}), sigma > 0"
            )
        spread = (beta * order - math.log1p(-2 * order * beta) / 2) / (order - 1)
        return order * math.exp(2 * beta) / self.sigma**2 + spread

    def epsilon(self, cost: float, delta: float) -> float:
        """Epsilon of the labels, whose Renyi divergence at the order is `cost`, and of its release together."""
        return float(epsilon_of_rdp(np.array(self.order), np.array(cost + self.rdp), delta))

    def released(
        self, votes: Indices, answered: Array, settings: Confident, delta: float, noise: Noise = discrete_gaussian
    ) -> float:
        """Noisy estimate of the epsilon of all labels with this release; arguments as of `cost`.

        Its error has no published size, as the smooth sensitivity is private, too.
        """
        exact = cost(votes, answered, settings, self.order)
        # A lattice step for the rounding, and so many more that the discrete noise is as good as continuous.
        smooth = smooth_sensitivity(sensitivities(votes, answered, settings, self.order), self.beta) + FINE / STEPS
        noisy = noise(np.array(round(exact * STEPS), np.int64), self.sigma * smooth * STEPS)
        return self.epsilon(max(0.0, float(noisy) / STEPS), delta)


def cost(votes: Indices, answered: Array, settings: Confident, order: float) -> float:
    """Data-dependent Renyi divergence of all labels at an order.

    votes: (query, class) of the processed queries; answered: (query,) 1 for labelled, 0 for abstained; probabilities
    give the expected cost.
    """
    labels = gnmax_rdp(log_q(votes, settings.sigma2), settings.sigma2, order) * answered
    if settings.threshold is None:
        return float(labels.sum())
    checks = threshold_rdp(votes.max(axis=1), settings.threshold, settings.sigma1, order)
    return float(checks.sum() + labels.sum())


def sensitivities(votes: Indices, answered: Array, settings: Confident, order: float) -> Array:
    """Bounds on the local sensitivity of `cost` of all tables up to each distance, (distance 0 ... teachers,)."""
    rows, place = np.unique(np.sort(votes, axis=1), axis=0, return_inverse=True)
    tests, labels = (np.bincount(place.ravel(), one) for one in (np.ones(len(votes)), answered))
    total = np.zeros(int(rows[0].sum()) + 1)
    for row, tested, labelled in zip(rows, tests, labels, strict=True):
        total += labelled * gnmax_sensitivities(row, settings.sigma2, order)
        if settings.threshold is not None:
            of_test = settings.threshold, settings.sigma1, order
            total += tested * threshold_sensitivities(int(row.max()), int(row.sum()), *of_test)
    return total


def smooth_sensitivity(local: Array, beta: float) -> float:
    """The beta-smooth sensitivity of local sensitivities up to each distance (distance,)."""
    return float((np.exp(-beta * np.arange(len(local))) * local).max())


def gnmax_sensitivities(counts: Indices, sigma: float, order: float) -> Array:
    """Largest local sensitivity of `gnmax_rdp` up to each distance, (0 ... teachers,); counts: (class,) of one query.

    q of a table at distance d lies between those of the votes with d teachers moved from the second class to the first,
    and back (Algorithms 4 and 5). Between the two, the paper's condition C6 says where the largest sensitivity is; it
    fails at the orders of a small epsilon, so that the maximum is taken over a grid of q as well. Raises AuditError
    where the cost does not rise with q (condition C5).
    """
    ordered = -np.sort(-np.asarray(counts, np.int64))
    classes, start = len(ordered), dependent_from(sigma, order)
    grid, at_grid = _local_on_grid(sigma, classes, order)
    low, high = (log_q(_moved(ordered, way), sigma) for way in (1, -1))
    high = np.where(high > start, 0.0, high)
    ends = np.maximum(*(gnmax_local(one, sigma, classes, order) for one in (low, high)))
    within = (grid >= low[:, None]) & (grid <= high[:, None])
    return np.maximum.accumulate(np.maximum(ends, np.where(within, at_grid, 0.0).max(axis=1)))


def gnmax_local(log_q: Array, sigma: float, classes: int, order: float) -> Array:
    """Bound on the local sensitivity of `gnmax_rdp` for each log q (Algorithm 3).

    Where one teacher can cross q0 it is at least that at the first such q.
    """
    start = dependent_from(sigma, order)
    crossing = shifted(np.array(start), sigma, classes, -1)
    at_crossing = _local(crossing, sigma, classes, order)
    found = _local(log_q, sigma, classes, order)
    return np.where((crossing <= log_q) & (log_q <= start), np.maximum(found, at_crossing), found)


def threshold_sensitivities(largest: int, teachers: int, threshold: float, sigma: float, order: float) -> Array:
    """Largest local sensitivity of `threshold_rdp` up to each distance, (0 ... teachers,), for a largest count."""
    local = _threshold_local(teachers, threshold, sigma, order)
    distance = np.abs(np.arange(teachers + 1) - largest)
    return np.maximum.accumulate([local[distance == one].max(initial=0.0) for one in range(teachers + 1)])


def shifted(log_q: Array, sigma: float, classes: int, way: int) -> Array:
    """Largest (way 1) or smallest (-1) log q that one other teacher can make of each (Proposition 12)."""
    others = math.log(classes - 1)
    normal = special.ndtri_exp(np.minimum(log_q - others, -1e-300))
    return np.minimum(0.0, others + special.log_ndtr(normal + way * math.sqrt(2) / sigma))


def _local(log_q: Array, sigma: float, classes: int, order: float) -> Array:
    # Slightly further than they are: rounding must not miss the step that the bound has at q0.
    down, up = (shifted(log_q, sigma, classes, way) * (1 - way * ROUNDED) for way in (-1, 1))
    lowest, here, highest = (gnmax_rdp(one, sigma, order) for one in (down, log_q, up))
    return np.maximum(highest - here, here - lowest)


def _moved(ordered: Indices, way: int) -> Indices:
    """(distance 0 ... teachers, class) votes with one teacher more moved each time, until nothing is left to move.

    ordered: (class,), largest first; way: 1 to the first class from the second largest, -1 from the first to it.
    """
    tables = [ordered]
    for _ in range(int(ordered.sum())):
        votes = tables[-1].copy()
        if votes[1] > 0 if way > 0 else votes[0] > votes[1]:
            votes[:2] += (way, -way)
        tables.append(-np.sort(-votes))
    return np.array(tables)


@lru_cache(maxsize=256)
def _local_on_grid(sigma: float, classes: int, order: float) -> tuple[Array, Array]:
    """Values of log q, ascending, up to q0, and the local sensitivity at each."""
    grid = np.sort(dependent_from(sigma, order) * GRID)
    below = gnmax_rdp(grid[:-1], sigma, order)
    if (np.diff(below) < -1e-12 * below.max()).any():
        raise AuditError(f"smooth sensitivity: the cost falls with q at order {order:g} and sigma {sigma:g}")
    return grid, gnmax_local(grid, sigma, classes, order)


@lru_cache(maxsize=256)
def _threshold_local(teachers: int, threshold: float, sigma: float, order: float) -> Array:
    """(largest count,) largest change of `threshold_rdp` by one teacher."""
    steps = np.abs(np.diff(threshold_rdp(np.arange(teachers + 1), threshold, sigma, order)))
    return np.maximum(np.r_[0.0, steps], np.r_[steps, 0.0])
