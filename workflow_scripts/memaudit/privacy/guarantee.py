"""What (epsilon, delta) of a release means for one person: trade-off curve, privacy loss beyond epsilon, several rows.

A privacy profile delta(epsilon) is known for every epsilon at once, and says more than one of its points: any test for
one person's presence with false positive rate a has a true positive rate of at most e^x a + delta(x) for each x (Dong,
Roth and Su 2022, Proposition 2.12), and the probability that the privacy loss exceeds epsilon follows from its slope.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from memaudit.common.arrays import Array
from memaudit.privacy.accounting import FINE, ORDERS, Mechanism, deltas_of, gaussian_delta, smooth

STEP = 1e-3  # of epsilon, in nats, for the slope of a profile
GRID = np.concatenate([[0.0], np.geomspace(1e-2, 1e2, 81)])  # epsilons at which a trade-off curve is supported
LARGEST = 700.0  # e^700 is finite
CANDIDATES = np.concatenate([[0.0], np.geomspace(1e-3, LARGEST, 1352)])  # 1 % apart


@dataclass(frozen=True)
class Guarantee:
    """The noise of a release, fixed before a record is read: all that its guarantee depends on.

    rho: zCDP cost of all releases; mechanisms: of `accounting.delta_of`, or None where the number of noisy answers
    depends on earlier ones, so that rho alone is known.
    """

    rho: float
    mechanisms: tuple[Mechanism, ...] | None = None

    @property
    def mu(self) -> float:
        """The mu of Gaussian differential privacy of one Gaussian release with the same rho: rho = mu^2 / 2."""
        return math.sqrt(2 * self.rho)

    def deltas(self, epsilons: Sequence[float]) -> Array:
        """delta(epsilon) at each epsilon, rising, (epsilon,): upper bounds."""
        if self.is_fine:
            # Gaussians compose to a Gaussian, of which the profile is known.
            mu = math.sqrt(sum(count * moved**2 / smooth(sigma) ** 2 for count, moved, sigma in self.mechanisms))
            return np.array([max(0.0, gaussian_delta(epsilon, 1 / mu)) for epsilon in epsilons])
        if self.mechanisms is not None:
            return deltas_of(epsilons, self.mechanisms)
        # Canonne, Kamath and Steinke 2020, Proposition 12, as in `accounting.rho_within`.
        fixed = (ORDERS - 1) * (ORDERS * self.rho + np.log1p(-1 / ORDERS)) - np.log(ORDERS)
        exponents = [(fixed - (ORDERS - 1) * epsilon).min() for epsilon in epsilons]
        return np.exp(np.minimum(0.0, exponents))

    def beyond(self, epsilon: float) -> float:
        """Upper bound of the probability that the privacy loss exceeds epsilon.

        With probability up to this, the odds of one person's presence change by more than a factor e^epsilon. It is
        not delta, which weighs a loss l by 1 - e^(epsilon - l): of a Gaussian it is several times delta. For h > 0,
        delta(epsilon - h) - e^-h delta(epsilon) is at least 1 - e^-h times it. rho alone: Markov's bound;
        of rho 0 there is no loss at all.
        """
        if self.rho == 0:
            return 0.0
        if self.mechanisms is None:
            return math.exp(-(max(epsilon - self.rho, 0.0) ** 2) / (4 * self.rho))
        before, at = self.deltas([epsilon - STEP, epsilon])
        return float(min(1.0, (before - math.exp(-STEP) * at) / -math.expm1(-STEP)))

    def largest_tpr(self, fprs: Sequence[float]) -> Array:
        """Largest TPR that any test for one person's presence can have at each FPR, (FPR,)."""
        fprs = np.asarray(fprs, np.float64)
        epsilons, deltas = self._supports
        outside = np.exp(epsilons)[:, None] * fprs + deltas[:, None]
        # The same bound with the roles of the two tables exchanged.
        inside = 1 - np.exp(-epsilons)[:, None] * (1 - deltas[:, None] - fprs)
        return np.minimum(1.0, np.minimum(outside, inside).min(axis=0))

    @cached_property
    def _supports(self) -> tuple[Array, Array]:
        """Epsilons and their deltas."""
        return GRID, self.deltas(GRID)

    def of_rows(self, rows: int) -> "Guarantee":
        """The guarantee for several rows together: every sensitivity is at most `rows` times as large.

        Coarse noise is accounted by rho alone: its loss is not that of one larger shift of a single number.
        """
        scaled = tuple((count, rows * moved, sigma) for count, moved, sigma in self.mechanisms or ())
        return Guarantee(rows**2 * self.rho, scaled if self.is_fine else None)

    @property
    def is_fine(self) -> bool:
        return bool(self.mechanisms) and all(sigma >= FINE for _, _, sigma in self.mechanisms)

    def epsilon(self, delta: float) -> float:
        """The smallest epsilon at which the profile is at most delta, to .02 %; infinite beyond `LARGEST`."""
        enough = self.deltas(CANDIDATES) <= delta
        if not enough.any() or enough[0]:
            return 0.0 if enough[0] else math.inf
        place = enough.argmax()
        between = np.linspace(*CANDIDATES[place - 1 : place + 1], 51)
        return float(between[(self.deltas(between) <= delta).argmax()])
