"""Bootstrap replicates of AUC and of TPR at FPR, from one sort of the entries (model, record)."""

import numpy as np

from memaudit.common.arrays import Array, Mask
from memaudit.common.progress_bar import steps
from memaudit.statistics.bootstrap import Weights, entry_weights, weighted_sum
from memaudit.statistics.roc import ROUNDING, Ranking, area, at_fpr, curve

EXACT_CELLS = 200_000


def auc_replicates(ranking: Ranking, shape: tuple[int, int], weights: Weights) -> Array:
    """AUC of every replicate: exact up to 200,000 cells, above that linear in the weights (`linear_auc`)."""
    if len(ranking.order) > EXACT_CELLS:
        return linear_auc(ranking, shape, weights)
    return np.array([area(*curve(ranking, w)) for w in entry_weights(ranking.order, weights)])


def linear_auc(ranking: Ranking, shape: tuple[int, int], weights: Weights) -> Array:
    """AUC of every replicate to first order: each cell's rank among the other class is held at its value.

    A replicate is the weighted mean of the `placements` of either class, less the AUC. Two matrix products in place of
    200 passes; the interval's ends agree with the exact ones to a twentieth of its width
    (tests/memaudit/statistics/test_roc_replicates).
    """
    part, member = placements(ranking, shape)
    inside, outside = weighted_sum(part * member, weights), weighted_sum(part * ~member, weights)
    return inside / weighted_sum(member, weights) + outside / weighted_sum(~member, weights) - area(*curve(ranking))


def placements(ranking: Ranking, shape: tuple[int, int]) -> tuple[Array, Mask]:
    """Of each entry, (model, record): its share of pairs with the other class that are in order, and whether it is IN.

    For an IN entry the share of OUT scores below it, for an OUT entry the share of IN scores above it, ties half: the
    mean over the entries of either class is the AUC.
    """
    fpr, tpr = curve(ranking)
    run = np.repeat(np.arange(len(ranking.ends)), np.diff(ranking.ends, prepend=-1))
    below, above = 1 - (fpr[1:] + fpr[:-1]) / 2, (tpr[1:] + tpr[:-1]) / 2
    part, member = np.empty(len(run)), np.empty(len(run), np.bool_)
    member[ranking.order] = ranking.member > 0
    part[ranking.order] = np.where(ranking.member > 0, below[run], above[run])
    return part.reshape(shape), member.reshape(shape)


def tpr_replicates(ranking: Ranking, fprs: Array, shape: tuple[int, int], weights: Weights) -> Array:
    """TPR at each FPR, (replicate, fpr), exactly: cumulative weights over the top of one sort."""
    member = np.empty(len(ranking.order), np.bool_)
    member[ranking.order] = ranking.member > 0
    member = member.reshape(shape)
    totals = np.stack([weighted_sum(member, weights), weighted_sum(~member, weights)], axis=1)
    share = 2 * float(np.max(fprs))
    # A replicate needs the cells down to its own highest FPR: where these are not enough, all take twice as many.
    while (rates := _from_top(ranking.top(share), fprs, weights, totals)) is None:
        share *= 2
    return rates


def _from_top(top: Ranking, fprs: Array, weights: Weights, totals: Array) -> Array | None:
    rates = []
    pairs = zip(entry_weights(top.order, weights), totals, strict=True)
    for of_cell, total in steps(pairs, "replicates", total=len(totals)):
        fpr, tpr = curve(top, of_cell, total)
        if fpr[-1] < min(np.max(fprs), 1 - ROUNDING):
            return None
        rates.append(at_fpr(fpr, tpr, fprs))
    return np.array(rates)
