"""Labels by noisy plurality of PATE teachers: GNMax and Confident-GNMax (Papernot et al. 2018; TabPATE, Appendix B).

Adding or removing a record changes at most one teacher: the largest count moves by at most 1, and two counts move by 1.
The guarantee is the data-independent one. The agreement of the votes is private and never decides when to stop.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memaudit.common.arrays import Mask
from memaudit.privacy.accounting import Filter, gaussian_rho
from memaudit.privacy.discrete_noise import Noise, discrete_gaussian

Votes = NDArray[np.int64]

ABSTAINED = -1


@dataclass(frozen=True)
class Confident:
    """Threshold on the noisy largest count, and sigma, in votes, of its noise and of the noise on every count.

    threshold None: plain GNMax, which answers every query; sigma1 is then unused.
    """

    threshold: float | None
    sigma1: float | None
    sigma2: float

    @property
    def check_cost(self) -> float:
        """rho of testing whether the teachers agree, whatever the outcome."""
        return 0.0 if self.threshold is None else gaussian_rho(self.sigma1)

    @property
    def label_cost(self) -> float:
        """rho of one answered label."""
        return gaussian_rho(self.sigma2, 2)


@dataclass(frozen=True)
class Labels:
    """labels: (query,) class, or -1 for abstained or not processed; queried, answered: numbers processed, labelled."""

    labels: NDArray[np.int64]
    queried: int
    answered: int


def label(votes: Votes, settings: Confident, allowance: Filter, noise: Noise = discrete_gaussian) -> Labels:
    """Label queries in order until the allowance does not cover another check and label; votes: (query, class) counts.

    Every cost is charged before its noise is drawn. Raises AuditError unless sigma > 0.
    """
    labels = np.full(len(votes), ABSTAINED)
    queried = 0
    # Blocks of as many queries as could all be answered: equal to one by one, with fewer draws of noise.
    while block := allowance.times(settings.check_cost + settings.label_cost, len(votes) - queried):
        queries = np.arange(queried, queried + block)
        allowance.charge(block * settings.check_cost)
        agreed = queries[_agreed(votes[queries], settings, noise)]
        allowance.charge(len(agreed) * settings.label_cost)
        labels[agreed] = _plurality(noise(votes[agreed], settings.sigma2), agreed)
        queried += block
    return Labels(labels, queried, int((labels != ABSTAINED).sum()))


def _agreed(votes: Votes, settings: Confident, noise: Noise) -> Mask:
    if settings.threshold is None:
        return np.ones(len(votes), dtype=bool)
    return noise(votes.max(axis=1), settings.sigma1) >= settings.threshold


def _plurality(counts: Votes, queries: NDArray[np.int64]) -> NDArray[np.int64]:
    """Class of the largest count. Integer counts often tie: the class that a tie favours rotates with the query."""
    classes = counts.shape[1]
    favour = (np.arange(classes) - queries[:, None]) % classes
    return (counts * classes + favour).argmax(axis=1)
