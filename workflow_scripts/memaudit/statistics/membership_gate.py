"""Gate of a target: whether a classifier that queries no model predicts its membership, in either direction.

The members of a target are a random subset of its texts. So the AUCs of memberships that are drawn again are its exact
null, whatever the classifier, its folds and the texts. A target is unfit if its p-value of both directions, with Holm's
correction over all targets of a study, is at most LEVEL: the probability that any target with randomly assigned members
is called unfit is at most LEVEL, however many targets there are.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm, rankdata

from memaudit.common.arrays import Array, Mask
from memaudit.statistics import bootstrap
from memaudit.statistics.detection_power import POWER_OF_MEANS, critical
from memaudit.statistics.permutation_tests import p_value

LEVEL = 0.05
FEWEST_DRAWS = 1999
BATCH = 500  # memberships that are ranked at once


@dataclass(frozen=True)
class Blind:
    """AUC of a blind classifier of one target's membership.

    low, high: the AUC less the 95 % range of the null's deviations; null, spread: mean and standard deviation of the
    AUCs of memberships drawn again; p_value: of both directions, one target alone; detectable: the AUC that the gate of
    all targets finds with probability .9; texts: number of texts.
    """

    auc: float
    low: float
    high: float
    null: float
    spread: float
    p_value: float
    detectable: float
    texts: int


def draws_for(targets: int) -> int:
    """Number of memberships to draw so that about five are expected beyond what the gate needs of one target."""
    return max(FEWEST_DRAWS, ceil(10 * targets / LEVEL))


def blind_aucs(
    weights: Array, places: NDArray[np.intp], members: Mask, targets: int, rng: np.random.Generator
) -> list[Blind]:
    """The blind AUC of the membership of each of some targets of the same texts, (target, text).

    weights: of `attacks.blind_texts` for the texts at `places`, which are chosen without a look at the membership;
    members: each with as many members; targets: number of targets of the whole study.
    """
    draws = draws_for(targets)
    batches = (min(BATCH, draws - first) for first in range(0, draws, BATCH))
    drawn = (rng.permuted(np.broadcast_to(members[0], (size, members.shape[1])), axis=1) for size in batches)
    null = np.concatenate([_aucs(weights, batch[:, places]) for batch in drawn])
    low, high = bootstrap.interval(null)
    centre, spread, found = float(null.mean()), float(null.std(ddof=1)), []
    detectable = float(min(1.0, critical(null, LEVEL / 2 / targets) + norm.ppf(POWER_OF_MEANS) * spread))
    for auc in _aucs(weights, members[:, places]):
        p = min(1.0, 2 * float(min(p_value(auc, null), p_value(-auc, -null))))
        ends = (max(0.0, float(auc - (high - centre))), min(1.0, float(auc + (centre - low))))
        found.append(Blind(float(auc), *ends, centre, spread, p, detectable, len(places)))
    return found


def mean_auc(checks: Sequence[Blind]) -> tuple[float, float, float]:
    """Mean AUC of targets of the same texts, whose members are drawn independently, with its 95 % interval."""
    mean = float(np.mean([one.auc for one in checks]))
    half = norm.ppf((1 + bootstrap.LEVEL) / 2) * checks[0].spread / np.sqrt(len(checks))
    return mean, max(0.0, float(mean - half)), min(1.0, float(mean + half))


def _aucs(weights: Array, members: Mask) -> Array:
    """AUC (draw,) of each membership (draw, text) by its own scores."""
    positives = members.sum(1)
    ranks = rankdata(members.astype(np.float64) @ weights.T, axis=1)
    sums = np.where(members, ranks, 0.0).sum(1)
    return (sums - positives * (positives + 1) / 2) / (positives * (members.shape[1] - positives))
