"""What chance alone gives: permuted memberships, placebos, and p-values that hold for many runs together (ICLMEM).

The published criterion, AUC(dS) > 0.5 on loss or entropy, has no error rate: without any memory one signal exceeds one
half in every second run, and the larger of two whose AUCs have correlation r in 3/4 - arcsin(r) / 2 pi of the runs: .57
at .9, .75 at 0, .83 at -.5. It flags about half to four fifths of placebos. And runs are no independent evidence: all
that were tuned on one split are asked about the same members and non-members, and one lucky draw lifts all of them. So
membership is permuted within a split, for all its runs alike; a setting is judged by its mean over splits, and its null
is the same mean of permuted AUCs. A member and a non-member are drawn as a pair of alike records, and a coin says which
is which: that coin is what is thrown again. To permute among all targets instead would take differences between pairs
for noise, and find too little.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.stats import false_discovery_control, rankdata

from memaudit.arrays import Array, Mask
from memaudit.statistics.roc import ROUNDING

LEVEL = 0.05
TIE = 1e-9  # means of equal AUCs differ in their last digits


def first(priorities: Array, count: int) -> Mask:
    """Designs (draw, target) with the `count` targets of least priority as members; priorities: (draw, target).

    Independent uniform priorities make them uniform random subsets, of all targets and of any part of them: runs that
    attack different targets of one split still have the same permutation.
    """
    designs = np.zeros(priorities.shape, np.bool_)
    np.put_along_axis(designs, np.argsort(priorities, axis=1)[:, :count], True, axis=1)
    return designs


def exchanged(member: Mask, unit: NDArray[np.intp], coins: Mask, priorities: Array) -> Mask:
    """Designs (draw, target) as likely as `member` (target,), given how pairs were drawn.

    unit: (target,) code of the matched pair, or of who is alone; coins: (draw, target), the same for both of a pair:
    who was the member is exchanged. Among the targets of no pair of member and non-member, as many as there are become
    members by `priorities`, see `first`.
    """
    sides = np.bincount(unit, member), np.bincount(unit, ~member)
    paired = ((sides[0] == 1) & (sides[1] == 1))[unit]
    designs = np.empty(coins.shape, np.bool_)
    designs[:, paired] = member[paired] ^ coins[:, paired]
    designs[:, ~paired] = first(priorities[:, ~paired], np.count_nonzero(member[~paired]))
    return designs


def aucs(scores: Array, designs: Mask) -> Array:
    """AUC (..., design) of scores (..., target) under designs (design, target), ties counted half (Mann, Whitney 1947).

    `roc.auc` of each; one sort of the scores serves all designs.
    """
    members = designs.sum(1)
    pairs = members * (designs.shape[1] - members)
    ranks = rankdata(scores, axis=-1) @ designs.T.astype(np.float64)
    return (ranks - members * (members + 1) / 2) / pairs


def p_value(observed: Array, null: Array) -> Array:
    """Share of permutations that are no smaller, the observed one among them; (...,) and (..., permutation)."""
    above = np.count_nonzero(null >= np.asarray(observed)[..., None] - TIE, axis=-1)
    return np.where(np.isnan(observed), np.nan, (1 + above) / (null.shape[-1] + 1))


def max_t(observed: Array, null: Array) -> Array:
    """p-values (setting,) of the largest among several settings, (setting,) and (setting, permutation).

    Each AUC is put in units of its own null, for fewer targets scatter more; a permutation's value is its largest over
    the settings (Westfall and Young 1993, single step). NaN where a setting has no AUC.
    """
    defined = ~np.isnan(observed)
    centre, spread = null[defined].mean(1), null[defined].std(1)
    spread = np.where(spread > ROUNDING, spread, np.inf)
    largest = ((null[defined] - centre[:, None]) / spread[:, None]).max(0, initial=-np.inf)
    found = np.full(len(observed), np.nan)
    found[defined] = p_value(
        (observed[defined] - centre) / spread, np.broadcast_to(largest, (defined.sum(), len(largest)))
    )
    return found


def q_value(p_values: Array) -> Array:
    """Benjamini and Hochberg's (1995) adjusted p-values; NaN is not among the questions."""
    found = np.full(len(p_values), np.nan)
    asked = ~np.isnan(p_values)
    if asked.any():
        found[asked] = false_discovery_control(p_values[asked])
    return found
