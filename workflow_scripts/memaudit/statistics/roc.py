"""ROC curves of membership scores, with ties and weights: AUC and TPR at given FPRs."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memaudit.common.arrays import Array, Mask
from memaudit.common.errors import AuditError

ROUNDING = 1e-12
FEWEST_ABOVE = 2  # non-members above a threshold, on average, that an interval of its TPR needs


@dataclass(frozen=True)
class Ranking:
    """Cells in falling order of score, sorted once for any number of weightings.

    order: (cell,) positions in the flattened scores; member: (cell,) in that order; ends: last place of every run of
    equal scores, the only places where a threshold can lie.
    """

    order: NDArray[np.intp]
    member: Array
    ends: NDArray[np.intp]

    def top(self, share: float) -> "Ranking":
        """The highest cells, down to the threshold where at least `share` of the non-members is passed."""
        outside = np.cumsum(1 - self.member)[self.ends]
        runs = min(int(np.searchsorted(outside, share * outside[-1])) + 1, len(self.ends))
        cells = self.ends[runs - 1] + 1
        return Ranking(self.order[:cells], self.member[:cells], self.ends[:runs])


def rank(scores: Array, member: Mask) -> Ranking:
    """Sort the cells of `scores` (any shape; `member` alike). Raises AuditError unless both classes are there."""
    scores, member = np.ravel(scores), np.ravel(member)
    if member.all() or not member.any():
        raise AuditError("a ROC curve needs members and non-members: every cell here is of one class")
    if np.isnan(scores).any():
        raise AuditError(f"score {int(np.argmax(np.isnan(scores)))} (flattened) is not a number: fix the calibration")
    order = np.argsort(-scores, kind="stable")
    falling = scores[order]
    ends = np.append(np.flatnonzero(falling[1:] != falling[:-1]), len(falling) - 1)
    return Ranking(order, member[order].astype(np.float64), ends)


def curve(ranking: Ranking, weights: Array | None = None, totals: Array | None = None) -> tuple[Array, Array]:
    """FPR and TPR from (0, 0) to (1, 1), one point per distinct score.

    weights: (cell,) in the ranking's order; totals: weight of IN and of OUT cells where the ranking is only their top.
    A run of ties is one straight segment, as if ties were broken at random. NaN where a class has no weight.
    """
    weights = np.ones(len(ranking.member)) if weights is None else weights
    inside = np.cumsum(weights * ranking.member)
    outside = np.cumsum(weights) - inside
    if len(ranking.ends) < len(inside):
        inside, outside = inside[ranking.ends], outside[ranking.ends]
    all_in, all_out = (inside[-1], outside[-1]) if totals is None else totals
    with np.errstate(invalid="ignore", divide="ignore"):
        tpr, fpr = inside / all_in, outside / all_out
    return np.concatenate([[0.0], fpr]), np.concatenate([[0.0], tpr])


def area(fpr: Array, tpr: Array) -> float:
    """Area under the curve; ties count half, so a constant score has exactly 0.5."""
    return float(np.dot(np.diff(fpr), tpr[1:] + tpr[:-1]) / 2)


def at_fpr(fpr: Array, tpr: Array, fprs: ArrayLike) -> Array:
    """TPR at the given FPRs: the best point not above each, and along the segment from there where scores are tied."""
    requested = np.asarray(fprs, dtype=np.float64)
    left = np.searchsorted(fpr, requested + ROUNDING, side="right") - 1
    right = np.minimum(left + 1, len(fpr) - 1)
    width = fpr[right] - fpr[left]
    share = np.divide(requested - fpr[left], width, out=np.zeros_like(requested), where=width > 0)
    return tpr[left] + np.clip(share, 0, 1) * (tpr[right] - tpr[left])


def auc(scores: Array, member: Mask) -> float:
    """Chance that a member's score exceeds a non-member's, ties counted half."""
    return area(*curve(rank(scores, member)))


def tpr_at_fpr(scores: Array, member: Mask, fprs: ArrayLike) -> Array:
    """TPR at each of `fprs`, by interpolation over ties: a constant score gives TPR = FPR."""
    return at_fpr(*curve(rank(scores, member)), fprs)


def resolved(fprs: ArrayLike, member: Mask) -> Mask:
    """Whether each FPR is at least 2 / number of non-members: below it a TPR has no interval.

    The threshold then lies at or above the largest non-member, or between it and the next: its own FPR is unknown, and
    a bootstrap covers too rarely.
    """
    return np.asarray(fprs) * (member.size - np.count_nonzero(member)) >= FEWEST_ABOVE - ROUNDING
