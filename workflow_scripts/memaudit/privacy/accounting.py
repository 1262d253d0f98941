"""Privacy accounting: (epsilon, delta), zCDP and privacy loss distributions of noisy releases.

Adjacency is add/remove of one record, or of all records of one privacy unit. A discrete Gaussian of L2 sensitivity s
obeys D_a <= a s^2 / (2 sigma^2) at every Renyi order a: its cost is rho = s^2 / (2 sigma^2), and costs add up (Canonne,
Kamath and Steinke 2020).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from typing import TYPE_CHECKING

import numpy as np
from scipy import optimize, special

from memaudit.common.arrays import Array
from memaudit.common.errors import AuditError

if TYPE_CHECKING:
    from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution

Mechanism = tuple[int, float, float]

# Any order gives a valid bound; the best one of this grid is within one part in a million of the optimum.
ORDERS = 1 + np.geomspace(1e-2, 1e6, 20_001)
# `rho_within` leaves this share of the budget unused, to allow for rounding of the charges.
ROUNDING = 1e-9
# Discretisation of the privacy loss, in nats: delta of 40,000 releases with sigma 100 is overestimated by 0.04 %.
INTERVAL = 1e-4
# Tiny discrete noise costs less than Gaussian noise of its rho: of one number, with rho = log(1/delta), the loss is rho
# but with probability delta, while a Gaussian that fills this epsilon has (sqrt(2) - 1)^2 rho, 5.8 times less.
CLEARLY = 8.0
# From this many lattice steps on, noise is accounted as slightly smaller continuous Gaussian noise: see `smooth`.
FINE = 1000.0
ROUNDER = 3.0


@dataclass(frozen=True)
class Budget:
    """(epsilon, delta) of all releases together."""

    epsilon: float
    delta: float

    def checked(self, records: int, part: int = 1) -> "Budget":
        """This budget. Raises AuditError unless epsilon > 0 and 0 < delta <= 1 / (part * records).

        A delta above 1 / records would allow the publication of a whole record.
        """
        if not 0 < self.epsilon < np.inf:
            raise AuditError(f"budget: epsilon {self.epsilon} is not a positive number; give one such as 1")
        if not 0 < self.delta <= 1 / (part * records):
            limit = f"1/{part * records}, one over {f'{part} times ' if part > 1 else ''}the number of records"
            raise AuditError(f"budget: delta {self.delta} does not lie in (0, {limit}]; give a smaller one")
        return self


def gaussian_sigma(epsilon: float, delta: float, sensitivity: float = 1.0) -> float:
    """Smallest noise of the Gaussian mechanism that is (epsilon, delta)-DP (Balle and Wang 2018, Theorem 8)."""
    excess = lambda log_sigma: gaussian_delta(epsilon, np.exp(log_sigma), sensitivity) - delta  # noqa: E731
    return float(np.exp(optimize.brentq(excess, np.log(sensitivity) - 20, np.log(sensitivity) + 20, xtol=1e-13)))


def gaussian_delta(epsilon: float, sigma: float, sensitivity: float = 1.0) -> float:
    """delta(epsilon) of the Gaussian mechanism: Phi(s/2v - ev/s) - e^e Phi(-s/2v - ev/s), s sensitivity, v sigma."""
    half, shift = sensitivity / (2 * sigma), epsilon * sigma / sensitivity
    return float(special.ndtr(half - shift) - np.exp(epsilon + special.log_ndtr(-half - shift)))


def gaussian_rho(sigma: float, squared_sensitivity: float = 1.0) -> float:
    """rho of one (discrete) Gaussian whose L2 sensitivity has this square. Raises AuditError unless sigma > 0."""
    if not 0 < sigma < np.inf:
        raise AuditError(f"noise: a sigma of {sigma} protects nothing; give a positive, finite number")
    return squared_sensitivity / (2 * sigma**2)


def rho_within(budget: Budget) -> float:
    """Largest rho whose zCDP guarantee implies (epsilon, delta)-DP, over the grid `ORDERS` of Renyi orders.

    Canonne, Kamath and Steinke 2020, Proposition 12: epsilon = D_a + log(1 - 1/a) - log(delta a) / (a - 1).
    """
    return max(0.0, float(_rho_at(ORDERS, budget).max()) * (1 - ROUNDING))


@dataclass
class Filter:
    """Privacy filter: adaptively chosen releases cost at most `rho` in total, as if they were fixed in advance.

    Feldman and Zrnic 2021, for Renyi divergences at one order that is fixed in advance: the one at which `rho_within`
    is reached, which depends on the budget alone. Charge first, then draw the noise.
    """

    rho: float
    spent: float = 0.0

    @property
    def left(self) -> float:
        """rho that is not spent yet."""
        return max(0.0, self.rho - self.spent)

    def allows(self, rho: float) -> bool:
        """Whether a release of this cost fits; one that fills the filter exactly fits despite rounding."""
        return 0 <= rho <= self.rho * (1 + ROUNDING) - self.spent

    def times(self, rho: float, most: int) -> int:
        """Number of releases of this cost that fit, at most `most`."""
        return int(min(most, self.left / rho * (1 + ROUNDING / 2)))

    def charge(self, rho: float) -> None:
        """Add the cost of a release to `spent`. Raises AuditError where it does not fit."""
        if not self.allows(rho):
            raise AuditError(f"privacy filter: rho {rho:g} requested, {self.left:g} left; release nothing more")
        self.spent += rho


def delta_of(epsilon: float, mechanisms: Sequence[Mechanism]) -> float:
    """delta(epsilon) of discrete Gaussians, each (count, sensitivity, sigma), the latter two in steps of its lattice.

    An upper bound by the privacy loss distributions of dp_accounting, up to the rounding of its Fourier transforms
    (1e-12). Below a sigma of `FINE`, sensitivity is the integer change of one number: give one entry per number that
    changes. From `FINE` on it is the L2 sensitivity of a whole vector. Queries may depend on earlier answers; counts
    and noise must be fixed in advance. Otherwise use a `Filter`.
    """
    return float(deltas_of([epsilon], mechanisms)[0])


def deltas_of(epsilons: Sequence[float], mechanisms: Sequence[Mechanism]) -> Array:
    """`delta_of` at several epsilons, (epsilon,), for about the cost of one."""
    losses = [_loss(sensitivity, sigma).self_compose(count) for count, sensitivity, sigma in mechanisms if count]
    if not losses:
        return np.zeros(len(epsilons))
    whole = reduce(lambda one, other: one.compose(other), losses)
    return np.maximum(0.0, np.asarray(whole.get_delta_for_epsilon(np.asarray(epsilons, np.float64)), np.float64))


def clearly_exceeds(budget: Budget, mechanisms: Sequence[Mechanism]) -> bool:
    """Whether discrete Gaussians cost so much that `delta_of`, which takes minutes with tiny noise, need not be asked.

    That is, more than `CLEARLY` times the rho of the one Gaussian that fills the budget. mechanisms: as of `delta_of`.
    False says nothing.
    """
    rho = sum(count * gaussian_rho(sigma, sensitivity**2) for count, sensitivity, sigma in mechanisms)
    return rho > CLEARLY * gaussian_rho(gaussian_sigma(budget.epsilon, budget.delta))


@lru_cache(maxsize=8)
def _loss(sensitivity: float, sigma: float) -> "PrivacyLossDistribution":
    # Imported here because it takes a second, which callers of the closed forms alone need not wait for.
    from dp_accounting.pld import privacy_loss_distribution as pld

    if sigma < FINE:
        # Without connect-the-dots every loss is rounded up, and 40,000 of them never fit.
        how = {"value_discretization_interval": INTERVAL, "use_connect_dots": True}
        return pld.from_discrete_gaussian_mechanism(sigma, sensitivity, **how)
    return pld.from_gaussian_mechanism(smooth(sigma), sensitivity, value_discretization_interval=INTERVAL)


def smooth(sigma: float) -> float:
    """Sigma of continuous Gaussian noise that protects no better than discrete noise of a sigma from `FINE` on.

    A Gaussian rounded by a discrete Gaussian around it is a discrete Gaussian with the sum of their variances, to one
    part in e^(2 pi^2 9) = 10^77 in each number (Peikert 2010, Theorem 3.1). Rounding is post-processing.
    """
    return math.sqrt(sigma**2 - ROUNDER**2)


def _rho_at(orders: Array, budget: Budget) -> Array:
    """(order,) the conversion of `rho_within` at each order, solved for rho."""
    return (budget.epsilon - np.log1p(-1 / orders) + np.log(budget.delta * orders) / (orders - 1)) / orders
