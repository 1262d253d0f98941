"""Labels by noisy plurality of teachers: GNMax and Confident-GNMax (Papernot et al. 2018; TabPATE, Appendix B).

Adding or removing a record changes at most one teacher: the largest count moves by at most 1, and two counts move by 1.
The guarantee is the data-independent one. The votes' agreement never decides when to stop, for it is private.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memaudit.privacy.accounting import Filter, gaussian_rho
from memaudit.privacy.discrete_noise import Noise, discrete_gaussian

Votes = NDArray[np.int64]

ABSTAINED = -1


@dataclass(frozen=True)
class Confident:
    """Threshold on the noisy largest count, and sigma, in votes, of its noise and of the noise on every count.

    threshold None: plain GNMax, which answers every query; sigma1 then plays no part.
    """

    threshold: float | None
    sigma1: float | None
    sigma2: float

    @property
    def check_cost(self) -> float:
        """rho of asking whether the teachers agree, whatever the answer."""
        return 0.0 if self.threshold is None else gaussian_rho(self.sigma1)

    @property
    def label_cost(self) -> float:
        """rho of one answered label."""
        return gaussian_rho(self.sigma2, 2)


@dataclass(frozen=True)
class Labels:
    """labels: (query,) class or -1, abstained or not asked; the first `asked` queries were, `answered` of them were."""

    labels: NDArray[np.int64]
    asked: int
    answered: int


def label(votes: Votes, settings: Confident, allowance: Filter, noise: Noise = discrete_gaussian) -> Labels:
    """Label queries in order until the allowance has no room for a check and a label; votes: (query, class) counts.

    Every cost is charged before its noise is drawn. Raises AuditError unless sigma > 0.
    """
    labels = np.full(len(votes), ABSTAINED)
    asked = 0
    # As many queries at a time as could all be answered: the same as one by one, with few calls for noise.
    while block := allowance.times(settings.check_cost + settings.label_cost, len(votes) - asked):
        queries = np.arange(asked, asked + block)
        allowance.charge(block * settings.check_cost)
        sure = queries[_agreed(votes[queries], settings, noise)]
        allowance.charge(len(sure) * settings.label_cost)
        labels[sure] = _plurality(noise(votes[sure], settings.sigma2), sure)
        asked += block
    return Labels(labels, asked, int((labels != ABSTAINED).sum()))


def _agreed(votes: Votes, settings: Confident, noise: Noise) -> NDArray[np.bool_]:
    if settings.threshold is None:
        return np.ones(len(votes), dtype=bool)
    return noise(votes.max(axis=1), settings.sigma1) >= settings.threshold


def _plurality(counts: Votes, queries: NDArray[np.int64]) -> NDArray[np.int64]:
    """Class of the largest count. Whole numbers often tie: whom a tie favours turns with the place of the query."""
    classes = counts.shape[1]
    favour = (np.arange(classes) - queries[:, None]) % classes
    return (counts * classes + favour).argmax(axis=1)
