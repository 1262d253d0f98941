"""Bootstrap replicates of the TPR above a quantile of the OUT scores: of all of them, or of each record's own."""

import numpy as np
from numpy.typing import NDArray

from memaudit.common.arrays import Array, Array32, Mask
from memaudit.statistics.bootstrap import Weights, entry_weights, mean_over_records, weighted_sum


def pooled_tpr(scores: Array32, member: Mask, fpr: float, weights: Weights) -> Array:
    """Replicates of the TPR strictly above the (1 - fpr) quantile of all OUT scores; both arrays (record, model)."""
    totals = weighted_sum(~member.T, weights), weighted_sum(member.T, weights)
    outside, share = scores[~member], 2 * fpr
    while True:
        # As in `tpr_replicates`: the top of the scores, and more of it until every replicate finds its quantile there.
        reach = min(len(outside) - 1, int(share * len(outside)) + 2)
        bound = -np.partition(-outside, reach)[reach]
        (outside_top, order_out), (inside_top, order_in) = (_top(scores, side, bound) for side in (~member, member))
        drawn = zip(entry_weights(order_out, weights), entry_weights(order_in, weights), *totals, strict=True)
        rates = np.array([tpr_above_quantile(outside_top, inside_top, *of_replicate, fpr) for of_replicate in drawn])
        if share >= 1 or not np.isnan(rates).any():
            return rates
        share *= 2


def _top(scores: Array32, side: Mask, bound: np.float32) -> tuple[Array, NDArray[np.intp]]:
    record, model = np.nonzero((scores >= bound) & side)
    values = scores[record, model]
    falling = np.argsort(-values, kind="stable")
    return values[falling].astype(np.float64), (model * len(scores) + record)[falling]


def per_record_tpr(scores: Array32, member: Mask, fpr: float, weights: Weights) -> Array:
    """Replicates of the mean over records of the TPR above each record's own OUT quantile; (record, model)."""
    totals = weights.models @ ~member.T, weights.models @ member.T
    rates = np.empty(weights.records.shape)
    for record, (values, inside) in enumerate(zip(scores.astype(np.float64), member, strict=True)):
        falling = np.argsort(-values, kind="stable")
        # Three times the cells that the quantile needs here suffice nearly always, and where not, all cells do.
        for cells in (_down_to(inside[falling], int(3 * fpr * (~inside).sum()) + 10), len(falling)):
            out, is_in = (falling[:cells][inside[falling[:cells]] == side] for side in (False, True))
            w_out, w_in = weights.models[:, out], weights.models[:, is_in]
            total_out, total_in = totals[0][:, record], totals[1][:, record]
            rates[:, record] = tpr_above_quantile(values[out], values[is_in], w_out, w_in, total_out, total_in, fpr)
            if not np.isnan(rates[:, record]).any():
                break
    return mean_over_records(rates, weights)


def _down_to(falling_member: Mask, outside: int) -> int:
    return min(int(np.searchsorted(np.cumsum(~falling_member), outside)) + 1, len(falling_member))


def tpr_above_quantile(
    outside: Array, inside: Array, w_out: Array, w_in: Array, total_out: Array, total_in: Array, fpr: float
) -> Array:
    """Weighted share of IN scores strictly above the (1 - fpr) quantile of OUT scores, linear between neighbours.

    outside, inside: falling scores, possibly their top alone; w_out, w_in: (..., score) whole numbers, how often each
    was drawn; totals: (...) with what lies below the top. NaN where a class was not drawn or the top ends too early.
    """
    drawn = np.cumsum(w_out, axis=-1)
    place = np.maximum(np.asarray(total_out) - 1, 0) * fpr
    first = np.floor(place)
    upper = (drawn <= first[..., None]).sum(-1)
    lower = (drawn <= np.minimum(first + 1, np.asarray(total_out) - 1)[..., None]).sum(-1)
    found = (lower < len(outside)) & (np.asarray(total_out) > 0) & (np.asarray(total_in) > 0)
    upper, lower = np.where(found, upper, 0), np.where(found, lower, 0)
    threshold = outside[upper] + (place - first) * (outside[lower] - outside[upper])
    above = np.searchsorted(-inside, -threshold, side="left")
    hits = np.concatenate([np.zeros((*w_in.shape[:-1], 1)), np.cumsum(w_in, axis=-1)], axis=-1)
    hits = np.take_along_axis(hits, above[..., None], axis=-1)[..., 0]
    return np.where(found, hits / np.where(found, total_in, 1), np.nan)
