"""Permutation tests of AUCs: permuted memberships of matched pairs, p-values, max-T and FDR corrections.

Models that were tuned on one split are attacked on the same members and non-members, so one lucky split raises the AUCs
of all of them. Membership is therefore permuted within a split, for all its runs alike; a setting is judged by its mean
over splits, and its null distribution is the mean of the same permuted AUCs. A member and its matched non-member are
assigned at random, so the null re-randomises membership within each pair. Permuting among all targets would count
differences between pairs as noise and reject too rarely.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.stats import false_discovery_control, rankdata

from memaudit.common.arrays import Array, Mask
from memaudit.statistics.roc import ROUNDING

BEYOND = 1e6  # standard errors
TIE = 1e-9  # means of equal AUCs differ in their last digits


def lowest_priorities(priorities: Array, count: int) -> Mask:
    """Memberships (draw, target): the `count` targets with the lowest priorities; priorities: (draw, target).

    Independent uniform priorities give uniform random subsets, of all targets and of any part of them: runs that attack
    different targets of one split still share their permutation.
    """
    members = np.zeros(priorities.shape, np.bool_)
    np.put_along_axis(members, np.argsort(priorities, axis=1)[:, :count], True, axis=1)
    return members


def permuted_members(member: Mask, pair: NDArray[np.intp], swaps: Mask, priorities: Array) -> Mask:
    """Memberships (draw, target) that are as likely as `member` (target,) under the assignment within pairs.

    pair: (target,) code of the matched pair, a code of its own for an unmatched target; swaps: (draw, target), equal
    for both targets of a pair: whether member and non-member change places. Among unmatched targets as many become
    members as there are, by `priorities`, see `lowest_priorities`.
    """
    members, nonmembers = np.bincount(pair, member), np.bincount(pair, ~member)
    paired = ((members == 1) & (nonmembers == 1))[pair]
    permuted = np.empty(swaps.shape, np.bool_)
    permuted[:, paired] = member[paired] ^ swaps[:, paired]
    permuted[:, ~paired] = lowest_priorities(priorities[:, ~paired], np.count_nonzero(member[~paired]))
    return permuted


def aucs(scores: Array, members: Mask) -> Array:
    """AUC (..., draw) of scores (..., target) under memberships (draw, target), ties counted half (Mann, Whitney 1947).

    Equals `roc.auc` of each; one sort of the scores serves all memberships.
    """
    positives = members.sum(1)
    pairs = positives * (members.shape[1] - positives)
    ranks = rankdata(scores, axis=-1) @ members.T.astype(np.float64)
    return (ranks - positives * (positives + 1) / 2) / pairs


def p_value(observed: Array, null: Array) -> Array:
    """Share of permutations that are no smaller, the observed one included; (...,) and (..., permutation)."""
    above = np.count_nonzero(null >= np.asarray(observed)[..., None] - TIE, axis=-1)
    return np.where(np.isnan(observed), np.nan, (1 + above) / (null.shape[-1] + 1))


def p_values_of_permutations(null: Array) -> Array:
    """p-value of each permutation (..., permutation) in place of the observed one, which is smaller: see `p_value`."""
    return number_no_smaller(null) / (null.shape[-1] + 1)


def number_no_smaller(null: Array) -> Array:
    """Number of permutations that are no smaller than each (..., permutation), itself included."""
    return rankdata(-null, "max", axis=-1)


def max_t(observed: Array, null: Array) -> Array:
    """p-values (setting,), adjusted for picking the largest of several settings; (setting,), (setting, permutation).

    Each AUC is standardised by its own null, since AUCs of fewer targets vary more; the value of a permutation is its
    maximum over the settings (Westfall and Young 1993, single step). Mean and deviation are those of the permutations
    and the observed value together: of the permutations alone, 99 of 12 settings reject in 7.4 % at a nominal 5 %. NaN
    where a setting has no AUC. Infinite values, as of a studentised metric without error, count as BEYOND.
    """
    defined = ~np.isnan(observed)
    standardised = _standardised(np.column_stack([observed[defined], null[defined]]))
    largest = standardised[:, 1:].max(0, initial=-np.inf)
    adjusted = np.full(len(observed), np.nan)
    adjusted[defined] = p_value(standardised[:, 0], np.broadcast_to(largest, (defined.sum(), len(largest))))
    return adjusted


def max_t_of_permutations(null: Array) -> Array:
    """`max_t` of each permutation in place of the observed one, among all of them; (setting, permutation), as `null`.

    NaN where a setting has no AUC.
    """
    defined = ~np.isnan(null).any(axis=1)
    standardised = _standardised(null[defined])
    largest = np.sort(standardised.max(0, initial=-np.inf))
    adjusted = np.full(null.shape, np.nan)
    adjusted[defined] = 1 - np.searchsorted(largest, standardised - TIE) / null.shape[1]
    return adjusted


def _standardised(values: Array) -> Array:
    """Each setting's values (setting, permutation) less their mean, in their deviations; all 0 where they are equal."""
    every = np.clip(values, -BEYOND, BEYOND)
    centre, spread = every.mean(1), every.std(1)
    return (every - centre[:, None]) / np.where(spread > ROUNDING, spread, np.inf)[:, None]


def max_t_half_widths(null: Array) -> Array:
    """Half-widths (setting,) of simultaneous 95 % intervals: each covers, also of a setting picked for its size.

    null: (setting, permutation). The 95th percentile of the largest absolute deviation, each standardised by its own
    null, times the setting's own spread: the interval that belongs to `max_t` (Westfall and Young 1993).
    """
    spread = null.std(1)
    scaled = np.where(spread > ROUNDING, spread, np.inf)
    largest = np.abs((null - null.mean(1)[:, None]) / scaled[:, None]).max(0)
    return np.quantile(largest, 0.95) * spread


def q_value(p_values: Array) -> Array:
    """Adjusted p-values of Benjamini and Hochberg (1995); NaN where the p-value is NaN, which is not counted."""
    adjusted = np.full(len(p_values), np.nan)
    defined = ~np.isnan(p_values)
    if defined.any():
        adjusted[defined] = false_discovery_control(p_values[defined])
    return adjusted


def q_values_of_permutations(p_values: Array) -> Array:
    """`q_value` of the tests of each permutation; p_values: (test, permutation), as `p_values_of_permutations`.

    NaN for tests that have a permutation without a p-value.
    """
    adjusted = np.full(p_values.shape, np.nan)
    defined = ~np.isnan(p_values).any(axis=1)
    if defined.any():
        adjusted[defined] = false_discovery_control(p_values[defined], axis=0)
    return adjusted
