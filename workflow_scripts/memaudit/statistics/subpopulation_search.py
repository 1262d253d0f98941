"""The subpopulation that leaks most, found by search on half of the privacy units and confirmed on the other half.

Candidates are groups of one column, and intersections of groups of two columns. Of many candidates one always leaks
most, so the estimate, the interval and the test come from records that had no part in the search: a single hypothesis,
without a correction. Slice finding: Chung et al. 2019. Size and coverage in simulations: docs/coverage.md.
"""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from memaudit.common.arrays import Array, Codes, Mask
from memaudit.statistics import bootstrap
from memaudit.statistics.attack_performance import Estimate, judge
from memaudit.statistics.group_comparison import FEWEST, excesses, record_aucs

AUC_ONLY = 0.1  # a rate that `judge` asks for, whose TPR is not used
BEAM = 30  # groups with the largest standardised excess, whose intersections with all others are searched
Name = tuple[Hashable, Hashable]  # column, group


class Slice(NamedTuple):
    """A subpopulation: names of one or two groups, and its records (record,)."""

    names: tuple[Name, ...]
    mask: Mask


@dataclass(frozen=True)
class Subpopulation:
    """The subpopulation that was found, judged on records that had no part in the search.

    names: (column, group) of one or two columns; records: in both halves; searched: candidates; auc, excess: of the
    records of the other half, `excess.n` of (model, record) entries; confirmed: number of its records there.
    """

    names: tuple[Name, ...]
    records: int
    searched: int
    confirmed: int
    auc: Estimate
    excess: Estimate


def worst_subpopulation(
    scores: Array,
    membership: Mask,
    groups: Mapping[Name, Mask],
    units: Codes,
    *,
    rng: np.random.Generator,
    replicates: int,
    permutations: int,
) -> Subpopulation | None:
    """The subpopulation with the largest standardised excess in one half, judged on the other half; None without one.

    scores, membership: (model, record); groups: by (column, group), the records (record,); units: (record,) records
    that are in together, never in different halves. A candidate has, in either half, at least FEWEST records and as
    many others. The p-value is of permuted units (`group_comparison.excess_p_values`).
    """
    first = halves(units, rng)
    found, searched = search(record_aucs(scores, membership), groups, first)
    if found is None:
        return None
    inside, other = found.mask[~first], (scores[:, ~first], membership[:, ~first], units[~first])
    excess = _excess(*other, inside, rng, replicates, permutations)
    options: dict[str, Any] = {"fprs": [AUC_ONLY], "rng": rng, "replicates": replicates, "groups": other[2][inside]}
    auc = judge(other[0][:, inside], other[1][:, inside], **options)[0]
    return Subpopulation(found.names, int(found.mask.sum()), searched, int(inside.sum()), auc, excess)


def halves(units: Codes, rng: np.random.Generator) -> Mask:
    """Whether a record is in the half that is searched, (record,): half of the units, drawn at random."""
    _, codes = np.unique(units, return_inverse=True)
    return rng.permutation(codes.max() + 1)[codes] % 2 == 0


def search(values: Array, groups: Mapping[Name, Mask], first: Mask) -> tuple[Slice | None, int]:
    """The candidate with the largest standardised excess of `values` (record,) in the first half, and their number.

    first: (record,); only the sizes of a candidate are taken from the other half. Pairs contain one of the `BEAM` best
    single groups.
    """
    names, masks = list(groups), np.array(list(groups.values()), dtype=bool).reshape(len(groups), len(values))
    kept = _is_large(masks, first)
    names, masks = [name for name, large in zip(names, kept, strict=True) if large], masks[kept]
    if not names:
        return None, 0
    single = _standardised(values[first], masks[:, first])
    order = np.argsort(-single, kind="stable")
    best, searched = (single[order[0]], Slice((names[order[0]],), masks[order[0]])), len(names)
    columns = np.array([str(column) for column, _ in names])
    ahead = np.zeros(len(names), dtype=bool)
    for place in order[:BEAM]:
        ahead[place] = True
        partners = np.flatnonzero((columns != columns[place]) & ~ahead)
        pairs = masks[partners] & masks[place]
        large = _is_large(pairs, first)
        partners, pairs = partners[large], pairs[large]
        searched += len(partners)
        if len(partners):
            excess = _standardised(values[first], pairs[:, first])
            most = int(excess.argmax())
            if excess[most] > best[0]:
                best = excess[most], Slice((names[place], names[partners[most]]), pairs[most])
    return best[1], searched


def _is_large(masks: Mask, first: Mask) -> Mask:
    """Whether candidates (candidate, record) and their complements have FEWEST records in either half, (candidate,)."""
    large = np.ones(len(masks), dtype=bool)
    for half in (first, ~first):
        inside = masks[:, half].sum(1)
        large &= (inside >= FEWEST) & (half.sum() - inside >= FEWEST)
    return large


def _standardised(values: Array, masks: Mask) -> Array:
    """Mean inside less mean outside, divided by Welch's standard error, (candidate,); masks: (candidate, record)."""
    inside = masks.astype(np.float64)
    centred = values - values.mean()
    count = inside.sum(1)
    sums, squares = inside @ centred, inside @ centred**2
    means, variances = [], []
    for n, total, square in ((count, sums, squares), (len(values) - count, -sums, (centred**2).sum() - squares)):
        means.append(total / n)
        variances.append(np.maximum(square / n - (total / n) ** 2, 0.0) / (n - 1))
    error = np.sqrt(variances[0] + variances[1])
    return np.divide(means[0] - means[1], error, out=np.zeros(len(masks)), where=error > 0)


def _excess(
    scores: Array,
    membership: Mask,
    units: Codes,
    inside: Mask,
    rng: np.random.Generator,
    replicates: int,
    permutations: int,
) -> Estimate:
    weights = bootstrap.two_way_weights(*membership.shape, replicates, rng, units)
    found = excesses(scores, membership, {"found": inside}, weights, units, rng, permutations)[0]
    return replace(found, method=f"{found.method}; found on other records")
