"""Thresholds at the rank k / (n + 1) of n scores without a leak: exact FPR for exchangeable scores."""

import numpy as np

from memaudit.common.arrays import Array, Floats, Mask


def rank_hits(scores: Floats, member: Mask, fpr: float) -> tuple[Array, Array]:
    """Expected numbers of IN and of OUT scores of each record above the record's own rank threshold, (record,) each.

    scores, member: (record, model). Of n OUT scores and one more score that is exchangeable with them, the latter
    exceeds the k-th largest with probability k / (n + 1). k = fpr (n + 1) is rarely whole: the counts above the k-th
    and the (k + 1)-th are averaged with the weights that give `fpr` exactly, as if the threshold were drawn. An OUT
    score meets the n - 1 others. Ties count as not above. Below one, k allows no threshold and the count is of scores
    above the largest OUT score, times k: exact without a leak, and without power.
    """
    outside = (~member).sum(1)
    falling = -np.sort(np.where(member, np.inf, -scores), axis=1)
    falling = np.hstack([np.full((len(scores), 1), np.inf), falling, np.full((len(scores), 1), -np.inf)])

    def above(rank: Array) -> tuple[Array, Array]:
        """Numbers of IN and OUT scores above the OUT score of this rank, 1 the largest and 0 none."""
        found = scores > np.take_along_axis(falling, np.minimum(rank, outside + 1)[:, None], axis=1)
        inside = (found & member).sum(1)
        return inside, found.sum(1) - inside

    place = fpr * (outside + 1)
    rank = np.floor(place).astype(np.int64)
    in_low, in_high = above(rank)[0], above(rank + 1)[0]
    of_others = fpr * outside
    rank_others = np.floor(of_others).astype(np.int64)
    out_low, out_high = above(rank_others + 1)[1], above(rank_others + 2)[1]
    return _between(in_low, in_high, place - rank), _between(out_low, out_high, of_others - rank_others)


def _between(low: Array, high: Array, share: Array) -> Array:
    return low + share * (high - low)
