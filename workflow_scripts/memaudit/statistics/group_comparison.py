"""Attack performance by group of records, with q-values over the groups and the excess over the other records."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import stats

from memaudit.arrays import Array, Codes, Mask
from memaudit.attacks.calibrate import calibrate
from memaudit.attacks.registry import Attack
from memaudit.statistics import bootstrap, roc
from memaudit.statistics.attack_performance import Estimate, Null, judge
from memaudit.workflow.progress_bar import steps

FEWEST = 10  # records of a group whose leakage is stated


@dataclass(frozen=True)
class Judged:
    """One group: its records, AUC and TPRs, how much its AUC exceeds that of the others, and the q-value of its AUC."""

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
) -> dict[Any, Judged]:
    """Groups by name, judged; a group of fewer than FEWEST records, or of all, is left out.

    membership: (model, record); members: by group name, which records belong to it (record,); units: (record,) records
    that are resampled together. The null permutes the rows of the membership matrix once for all groups and calibrates
    again. q-values: Benjamini-Hochberg over the groups. The excess is a difference under common bootstrap weights,
    detected where its interval excludes 0.
    """
    kept = {name: mask for name, mask in members.items() if FEWEST <= mask.sum() < len(mask)}
    if not kept:
        return {}
    values, method, options = attack
    scores = calibrate(values, membership, method, **options)
    weights = bootstrap.two_way_weights(*membership.shape, replicates, rng, units)
    nulls = _nulls(attack, membership, kept, fprs, rng, permutations)
    judged = {}
    for name, mask in kept.items():
        part = {"fprs": fprs, "rng": rng, "groups": units[mask], "replicates": replicates, "null": nulls[name]}
        estimates = judge(scores[:, mask], membership[:, mask], **part)
        judged[name] = Judged(int(mask.sum()), estimates, _excess(scores, membership, mask, weights), np.nan)
    q_values = stats.false_discovery_control([one.estimates[0].p_value for one in judged.values()])
    return {name: replace(one, q_value=float(q)) for (name, one), q in zip(judged.items(), q_values, strict=True)}


def _nulls(
    attack: Attack, membership: Mask, members: Mapping[Any, Mask], fprs: list[float], rng, permutations: int
) -> dict[Any, Null]:
    values, method, options = attack
    drawn: dict[Any, list[Array]] = {name: [] for name in members}
    for _ in steps(range(permutations), "permuted designs, groups"):
        permuted = membership[rng.permutation(len(membership))]
        scores = calibrate(values, permuted, method, **options)
        for name, mask in members.items():
            curve = roc.curve(roc.rank(scores[:, mask], permuted[:, mask]))
            drawn[name].append(np.array([roc.area(*curve), *roc.at_fpr(*curve, fprs)]))
    return {name: Null(tuple(fprs), np.array(found)) for name, found in drawn.items()}


def _excess(scores: Array, membership: Mask, mask: Mask, weights: bootstrap.Weights) -> Estimate:
    sides = list(_sides(scores, membership, mask, weights))
    gap = sides[0][0] - sides[1][0]
    low, high = bootstrap.interval(sides[0][1] - sides[1][1])
    method = f"two-way bootstrap, {len(weights.models)} replicates, common weights"
    return Estimate("auc excess", gap, low, high, scores.size, method, 0.0, detected=bool(low > 0 or high < 0))


def _sides(scores: Array, membership: Mask, mask: Mask, weights: bootstrap.Weights) -> Iterator[tuple[float, Array]]:
    """AUC and its replicates, of the group and of the others."""
    for side in (mask, ~mask):
        ranking = roc.rank(scores[:, side], membership[:, side])
        drawn = bootstrap.Weights(weights.models, weights.records[:, side])
        yield roc.area(*roc.curve(ranking)), bootstrap.auc_replicates(ranking, membership[:, side].shape, drawn)
