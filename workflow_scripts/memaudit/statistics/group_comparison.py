"""Attack performance by group of records, with q-values over the groups and the excess over the other records.

Of many groups one always leaks most: where vulnerability varies between records and not between groups, the lower end
of some group's interval is often above 0. So groups are compared with random groups of the same sizes: the largest
standardised excess of permuted privacy units (max-T; Westfall and Young 1993) says which excess is remarkable.

Records of a group may also share what a context does to them, which permuted units do not. So the excess must be
remarkable for the contexts, too: Student's t with the variance between units and contexts (two-way clusters; Cameron,
Gelbach and Miller 2011). How often a group is named although none leaks more: docs/coverage.md.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import stats

from memaudit.attacks.attack_entry import Attack
from memaudit.attacks.calibrate import calibrate
from memaudit.common.arrays import Array, Codes, Indices, Mask
from memaudit.data.membership_matrices import COLUMNS, Scheme
from memaudit.statistics import bootstrap, roc, roc_replicates
from memaudit.statistics.attack_performance import SIGNIFICANT, Estimate, judge
from memaudit.statistics.permutation_tests import max_t
from memaudit.statistics.randomisation_tests import group_nulls
from memaudit.statistics.roc import ROUNDING

FEWEST = 10  # records of a group whose leakage is stated


@dataclass(frozen=True)
class GroupLeakage:
    """One group: its records, AUC and TPRs, its excess over the other records, and the q-value of its AUC."""

    records: int
    estimates: list[Estimate]
    excess: Estimate
    q_value: float


def judge_groups(
    attack: Attack,
    membership: Mask,
    members: Mapping[Any, Mask],
    units: Codes,
    *,
    fprs: list[float],
    rng: np.random.Generator,
    replicates: int,
    permutations: int,
    scheme: Scheme = COLUMNS,
) -> dict[Any, GroupLeakage]:
    """Groups by name, judged; a group of fewer than FEWEST records, or of all, is left out.

    membership: (model, record), drawn by `scheme`; members: by group name, which records belong to it (record,); units:
    (record,) records that are in together and are resampled together. The null is of `permutations` redraws of the
    membership matrix, the same for all groups. q-values: Benjamini-Hochberg over the groups. The excess has a p-value
    for being above 0, adjusted for the choice among all groups (`excess_p_values`, `context_p_values`); its interval
    is that of a single group.
    """
    kept = {name: mask for name, mask in members.items() if FEWEST <= mask.sum() < len(mask)}
    if not kept:
        return {}
    values, method, options = attack
    scores = calibrate(values, membership, method, **options)
    weights = bootstrap.two_way_weights(*membership.shape, replicates, rng, units)
    redrawn = {"fprs": fprs, "scheme": scheme, "units": units, **options}
    nulls = group_nulls(values, membership, method, kept, rng, permutations, **redrawn)
    compared = excesses(scores, membership, kept, weights, units, rng, permutations)
    judged = {}
    for (name, mask), excess in zip(kept.items(), compared, strict=True):
        part = {"fprs": fprs, "rng": rng, "groups": units[mask], "replicates": replicates, "null": nulls[name]}
        estimates = judge(scores[:, mask], membership[:, mask], **part)
        judged[name] = GroupLeakage(int(mask.sum()), estimates, excess, np.nan)
    q_values = stats.false_discovery_control([one.estimates[0].p_value for one in judged.values()])
    return {name: replace(one, q_value=float(q)) for (name, one), q in zip(judged.items(), q_values, strict=True)}


def record_aucs(scores: Array, membership: Mask) -> Array:
    """Share of pairs of an IN and an OUT entry in the right order, one of them the record's, (record,).

    scores, membership: (model, record). IN and OUT entries of the record count half each. The mean over records is the
    AUC where all records are in as many models.
    """
    placed, _ = roc_replicates.placements(roc.rank(scores, membership), membership.shape)
    inside, outside = ((placed * side).sum(0) / side.sum(0) for side in (membership, ~membership))
    return (inside + outside) / 2


def record_influence(scores: Array, membership: Mask) -> Array:
    """What each entry adds to its record's `record_aucs`, less the mean of the record's side: (model, record)."""
    placed, _ = roc_replicates.placements(roc.rank(scores, membership), membership.shape)
    found = np.zeros(membership.shape)
    for side in (membership, ~membership):
        count = side.sum(0)
        found += np.where(side, (placed - (placed * side).sum(0) / count) / (2 * count), 0)
    return found


def permuted_units(units: Codes, rng: np.random.Generator) -> Indices:
    """A random permutation of the records that moves whole units, each to the place of one of as many records."""
    order = np.argsort(units, kind="stable")
    _, starts, sizes = np.unique(units[order], return_index=True, return_counts=True)
    permuted = np.empty_like(order)
    for size in np.unique(sizes):
        records = order[starts[sizes == size, None] + np.arange(size)]
        permuted[records] = records[rng.permutation(len(records))]
    return permuted


def excess_p_values(values: Array, masks: Mask, units: Codes, rng: np.random.Generator, permutations: int) -> Array:
    """p-values (group,) that the records of a group have a larger mean than the others, adjusted for all groups.

    values: (record,), such as `record_aucs`; masks: (group, record); units: (record,) records that are permuted
    together. Null: groups of the same sizes, drawn anew from the units; max-T over the groups. The excess is divided by
    its standard error, so that records of a group may also vary more than others (Janssen 1997): the plain excess names
    one of 15 records with 4 times the deviation in 25 % of audits at a nominal 5 %.
    """
    permuted = values[np.array([permuted_units(units, rng) for _ in range(permutations)])]
    every = np.vstack([values, permuted])
    studentised = excess_means(every, masks) / np.maximum(_excess_errors(every, masks, units), ROUNDING)
    return max_t(studentised[0], studentised[1:].T)


def context_p_values(values: Array, influence: Array, masks: Mask, units: Codes) -> Array:
    """p-values (group,) as `excess_p_values`, for groups whose records share effects of contexts; Sidak's correction.

    influence: (model, record), `record_influence`. Student's t: the variance of the excess is that between units, plus
    that between models less that of their entries. Its degrees of freedom are Satterthwaite's; those of the models are
    fewer where few of them make the variance (kurtosis over models). What contexts add is skewed, so the standard error
    is widened as `bootstrap.t_interval` widens, for as many models.
    """
    models = len(influence)
    weights = masks / masks.sum(1, keepdims=True) - ~masks / (~masks).sum(1, keepdims=True)
    of_models = influence @ weights.T
    squares = (of_models**2).sum(0)
    with np.errstate(invalid="ignore", divide="ignore"):
        of_contexts = np.fmin(3 * squares**2 / (of_models**4).sum(0), models - 1)
    between_units = _excess_errors(values[None], masks, units)[0] ** 2
    between_models = squares * models / (models - 2)  # two means of each record are taken off
    added = between_models - np.minimum(_of_entries(influence, weights, units), between_units)
    variance = between_units + np.maximum(added, 0)
    fewest = np.array([len(np.unique(units[mask])) for mask in masks]) - 1
    with np.errstate(invalid="ignore", divide="ignore"):
        freedom = variance**2 / (between_units**2 / fewest + between_models**2 / of_contexts)
    freedom = np.where(variance > between_units, np.fmin(freedom, fewest), fewest)
    error = bootstrap.for_skewed(of_contexts) * np.sqrt(variance)
    excess = excess_means(values, masks) / np.maximum(error, ROUNDING)
    return 1 - stats.t.cdf(excess, np.maximum(freedom, 1)) ** len(masks)


def _of_entries(influence: Array, weights: Array, units: Codes) -> Array:
    """Variance of the excess between entries (model, unit), (group,)."""
    order = np.argsort(units, kind="stable")
    starts = np.unique(units[order], return_index=True)[1]
    return np.array(
        [(np.add.reduceat((influence * of_group)[:, order], starts, axis=1) ** 2).sum() for of_group in weights]
    )


def excess_means(values: Array, masks: Mask) -> Array:
    """Mean over the records of each group minus that over all others, (..., group).

    values: (..., record); masks: (group, record), neither empty nor full.
    """
    total, count = values @ masks.T.astype(np.float64), masks.sum(1)
    return total / count - (values.sum(-1, keepdims=True) - total) / (masks.shape[1] - count)


def _excess_errors(values: Array, masks: Mask, units: Codes) -> Array:
    """Standard errors of `excess_means` from the variance between units, (draw, group); values: (draw, record)."""
    order = np.argsort(units, kind="stable")
    values, masks = values[:, order], masks[:, order]
    starts = np.unique(units[order], return_index=True)[1]
    errors = np.empty((len(values), len(masks)))
    for group, mask in enumerate(masks):
        influence = np.zeros((len(values), len(starts)))
        for side in (mask, ~mask):
            residuals = (values - values[:, side].mean(1, keepdims=True)) * side
            influence += (1 if side is mask else -1) * np.add.reduceat(residuals, starts, axis=1) / side.sum()
        errors[:, group] = np.sqrt((influence**2).sum(1))
    return errors


def excesses(
    scores: Array,
    membership: Mask,
    members: Mapping[Any, Mask],
    weights: bootstrap.Weights,
    units: Codes,
    rng: np.random.Generator,
    permutations: int,
) -> list[Estimate]:
    """Excess of each group in `record_aucs`, with its bootstrap interval and p-value adjusted for all groups.

    Detected where the p-value is at most 0.05 and the interval above 0.

    scores, membership: (model, record); members: by group, its records (record,); weights: of the two-way bootstrap;
    units: (record,) records that are permuted together.
    """
    values, masks = record_aucs(scores, membership), np.array(list(members.values()))
    p_values = excess_p_values(values, masks, units, rng, permutations)
    p_values = np.maximum(p_values, context_p_values(values, record_influence(scores, membership), masks, units))
    placed, _ = roc_replicates.placements(roc.rank(scores, membership), membership.shape)
    inside, outside = ((weights.models @ (placed * side), weights.models @ side) for side in (membership, ~membership))
    method = f"two-way bootstrap, {len(weights.models)} replicates; p-value: the larger of max-T, "
    method += f"{permutations} permuted units, and Student's t over contexts"
    found = []
    for mask, excess, p_value in zip(masks, excess_means(values, masks), p_values, strict=True):
        group, others = (
            sum((total * drawn).sum(1) / (count * drawn).sum(1) for total, count in (inside, outside)) / 2
            for drawn in (weights.records * mask, weights.records * ~mask)
        )
        fewer = replace(weights, units=min(bootstrap.effective_units(units[side]) for side in (mask, ~mask)))
        ends = bootstrap.two_way_interval(group - others, float(excess), fewer, -1, 1)
        found.append(
            Estimate(
                "auc excess", float(excess), *ends, scores.size, method, 0.0, p_value=float(p_value),
                detected=bool(p_value <= SIGNIFICANT and ends[0] > 0),
            )
        )  # fmt: skip
    return found
