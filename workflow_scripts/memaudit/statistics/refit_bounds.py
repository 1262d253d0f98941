"""Lower bound on epsilon from refits of a mechanism with and without one record, by one threshold on a score.

The threshold for each half of the refits is the best one of the other half, and both rates are bounded by Clopper and
Pearson. That assumes nothing about the mechanism but (epsilon, delta)-DP (statistics/epsilon_bounds.py).
"""

import numpy as np

from memaudit.common.arrays import Array, Mask
from memaudit.common.errors import AuditError
from memaudit.statistics.epsilon_bounds import AuditPoint, epsilon_lower_bound
from memaudit.statistics.intervals import clopper_pearson


def audit_refits(name: str, scores: Array, member: Mask, delta: float, rng: np.random.Generator) -> AuditPoint:
    """The bound of a score called `name`, (refit,) each: higher with the record, which `member` marks.

    The halves have as many members and as many others. Raises AuditError below two refits of each kind.
    """
    if min(member.sum(), (~member).sum()) < 2:
        raise AuditError(f"{name}: fewer than two refits with the record, or without it; make more")
    first = np.zeros(len(scores), dtype=bool)
    for kind in (member, ~member):
        first[rng.permutation(np.flatnonzero(kind))[::2]] = True
    cuts = [_best(scores[half], member[half]) for half in (first, ~first)]
    hits = scores > np.where(first, cuts[1], cuts[0])
    true, false = int(hits[member].sum()), int(hits[~member].sum())
    inside, outside = int(member.sum()), int((~member).sum())
    tpr_low, fpr_high = clopper_pearson(true, inside)[0], clopper_pearson(false, outside)[1]
    epsilon = epsilon_lower_bound(tpr_low, fpr_high, delta)
    method = "Clopper-Pearson, threshold from the other half of the refits"
    tpr, fpr = true / inside, false / outside
    return AuditPoint(name, np.nan, epsilon, tpr, tpr_low, fpr, fpr_high, len(scores), method)


def largest_epsilon(inside: int, outside: int, delta: float) -> float:
    """Bound on epsilon of a test that is right about all refits: the most that so many can show, in nats."""
    return epsilon_lower_bound(clopper_pearson(inside, inside)[0], clopper_pearson(0, outside)[1], delta)


def _best(scores: Array, member: Mask) -> float:
    """Threshold of the largest TPR - FPR, in the middle of two neighbouring scores."""
    values = np.unique(scores)
    cuts = np.append((values[1:] + values[:-1]) / 2, values[-1])
    above = scores > cuts[:, None]
    return float(cuts[np.argmax(above[:, member].mean(1) - above[:, ~member].mean(1))])
