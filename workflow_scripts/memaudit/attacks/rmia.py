"""Robust membership inference attack (Zarifzadeh, Liu and Shokri 2024)."""

from typing import Literal

import numpy as np

from memaudit.attacks.cross_fitting import FOLDS, fold_slices, model_folds, of_models, parts, record_halves
from memaudit.attacks.gaussian import mean_without_target, require_shadows
from memaudit.attacks.lira import columns, record_blocks
from memaudit.attacks.shadow_sides import Leave, arrange, is_balanced
from memaudit.common.arrays import Array, Floats, Mask
from memaudit.common.errors import AuditError

ESTIMATED: Literal["estimated"] = "estimated"


def rmia(
    probabilities: Floats,
    membership: Mask,
    *,
    population: Floats,
    gamma: float = 1.0,
    offline: float | Literal["estimated"] | None = None,
    leave: Leave = "pair",
) -> Array:
    """Share of population records z that x dominates: mean over z of [ (P(x|t)/P(x)) / (P(z|t)/P(z)) > gamma ].

    Every model is target t in turn, the others are its reference models. probabilities: (model, record) of the true
    label; membership: (model, record); population: (model, z), probabilities of records that no model saw; gamma: the
    paper's threshold on the ratio; offline: the paper's a, which estimates P from OUT models alone, a number or
    "estimated" (`estimated_a`); None: P(x) is the mean of the IN and the OUT average, and P(z), which has no IN models,
    the mean over references; leave: what a target's averages do without, see `shadow_sides.Leave`.
    Returns (model, record) in [0, 1]. Raises AuditError where a record has fewer than 2 reference models on one side,
    where the population does not belong to these models, or where a probability is 0.
    """
    require_shadows(membership)
    if population.ndim != 2 or len(population) != len(membership) or population.shape[1] == 0:
        raise AuditError(
            f"the RMIA population has shape {population.shape}, but {len(membership)} models were scored: give one row"
            " per model and at least one record that is in no membership matrix"
        )
    if not (np.min(probabilities) > 0 and np.min(population) > 0):
        raise AuditError("RMIA compares ratios of probabilities, and one of them is 0: clip them first")
    folds, halves = model_folds(len(membership)), record_halves(membership.shape[1])
    a = None if offline is None else np.full((FOLDS, 2), offline if offline != ESTIMATED else np.nan)
    if offline == ESTIMATED:
        a = estimated_a(probabilities, membership)
    scores, in_pairs = np.empty(membership.shape), leave == "pair" and is_balanced(membership)
    for part in record_blocks(membership.shape[1], len(membership)):
        values, member = columns(probabilities, membership, part)
        block = arrange(values, member, leave, in_pairs)
        if a is None:
            marginal = block.joined(sum(mean_without_target(side) for side in block.sides) / 2)
        else:
            outside = block.joined(mean_without_target(block.sides[1]))
            marginal = offline_marginal(outside, of_models(a[:, halves[part]], len(member)))
        scores[:, part] = values / marginal
    everyone = (population.sum(0, dtype=np.float64) - population) / (len(population) - 1)
    of_halves = [slice(half, None, 2) for half in range(2)] if offline == ESTIMATED else [slice(None)]
    for half, records in enumerate(of_halves):
        marginal = everyone if a is None else offline_marginal(everyone, a[folds, half][:, None])
        for row, ratio_z in zip(scores[:, records], population / marginal, strict=True):
            row[:] = dominated(row, ratio_z, gamma)
    return scores


def offline_marginal(outside: Array, a: Array | float) -> Array:
    """P(x) = ((1 + a) P_out(x) + (1 - a)) / 2: what P would be if the IN probability were a P_out + (1 - a)."""
    return ((1 + a) * outside + (1 - a)) / 2


def estimated_a(probabilities: Floats, membership: Mask) -> Array:
    """The offline form's a, (fold, half), of each fold of target models with each half of the records.

    Least squares of 1 - P_in on 1 - P_out without intercept, which is the paper's line P_in = a P_out + (1 - a), over
    the other half of the records in the models of the other folds (`attacks.cross_fitting`): the attacker's own
    reference models and records. An offline attacker has no IN models of the record under attack, and needs none.
    Cut to [0, 1]. probabilities, membership: (model, record).
    Raises AuditError where no record of a half has reference models on both sides.
    """
    slopes, models = np.empty((FOLDS, 2)), fold_slices(len(membership))
    count, lost = np.empty((2, 2, FOLDS, membership.shape[1]))
    for part in record_blocks(membership.shape[1], len(membership)):
        values, member = columns(probabilities, membership, part)
        for fold, of_fold in enumerate(models):
            for side, of_side in enumerate((member[of_fold], ~member[of_fold])):
                count[side, fold, part] = of_side.sum(0)
                lost[side, fold, part] = np.einsum("mr,mr->r", 1 - values[of_fold], of_side)
    others = 1 - np.eye(FOLDS)
    with np.errstate(invalid="ignore", divide="ignore"):
        lost = (others @ lost) / (others @ count)
    for part in parts(*membership.shape):
        inside, outside = lost[:, part.fold, part.other_records]
        known = np.isfinite(inside * outside)
        if not (outside[known] ** 2).sum():
            raise AuditError(
                f"RMIA's a cannot be estimated from {known.sum()} records: give more records or reference models, or"
                " set a number"
            )
        slopes[part.fold, part.half] = inside[known] @ outside[known] / (outside[known] @ outside[known])
    return np.clip(slopes, 0, 1)


def dominated(ratio_x: Array, ratio_z: Array, gamma: float) -> Array:
    """Share of z with ratio_x / ratio_z > gamma, from two sorts: ratio_x (record,), ratio_z (z,), no (record, z)."""
    # Values in order are found among each other several times faster than in any order.
    rising = ratio_x.argsort()
    ends = np.full(len(ratio_z) + 2, len(ratio_x))
    ends[0], ends[1:-1] = 0, (ratio_x[rising] / gamma).searchsorted(np.sort(ratio_z), side="right")
    shares = np.empty(len(ratio_x))
    shares[rising] = (np.arange(len(ratio_z) + 1) / len(ratio_z)).repeat(ends[1:] - ends[:-1])
    return shares
