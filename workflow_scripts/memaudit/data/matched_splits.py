"""Members that a model is fine-tuned on and matched non-members (ICLMEM, section 4.1, appendix A.2 and table 6).

Query members and non-members are matched pairs of one class or of neighbouring numbers; within each pair membership is
assigned at random. So members and non-members are as similar as the data allow, at every number of queries that is
used. All other records are members: context rows, spare ones, and negative controls (`placebo`), on which a second
model is fine-tuned that is evaluated on the same pairs. Records of one group (a person) are all members or all
non-members, and one record of each group takes part.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from memaudit.common.arrays import Array, Indices
from memaudit.common.errors import AuditError
from memaudit.data.member_splits import MEMBERS, NONMEMBERS, draw, strata
from memaudit.data.membership_matrices import unit_codes

QUERY, CONTEXT, NONMEMBER, PLACEBO, SPARE = "query", "context", "nonmember", "placebo", "spare"
BINS, RANGE = 10, (0.01, 0.99)  # of the numbers that a context is uniform over
CONDITIONS = ("normal", "shuffled_members", "shuffled_all")


@dataclass(frozen=True)
class Sizes:
    """Increasing numbers of query members and of context rows, and the number of negative controls (placebos).

    The largest are drawn; their first records are a random draw of every smaller number.
    """

    queries: Sequence[int]
    context: Sequence[int]
    placebos: int = 0


def draw_split(records: pd.DataFrame, sizes: Sizes, rng: np.random.Generator) -> pd.DataFrame:
    """Draw one split: id, side (members, nonmembers), role (query, context, nonmember, placebo, spare) and order (int,
    within the role) of all records, in the records' order.

    records: id, target, and optionally group. Context rows are uniform over classes, or over bins of numbers, as far as
    the data allow (table 2), with at least one of each queried class. Raises AuditError for too few records, and for a
    target whose classes have one record each.
    """
    candidates, targets, classes = _representatives(records, rng)
    free = np.ones(len(candidates), dtype=bool)
    roles: dict[str, list[Indices]] = {QUERY: [], NONMEMBER: []}
    _check(targets, classes, sizes)
    for size in np.diff(sizes.queries, prepend=0):
        pairs = _matched(np.flatnonzero(free), targets, classes, size, rng)
        free[pairs] = False
        for role, places in zip(roles, pairs.T, strict=True):
            roles[role].append(places)
    roles[CONTEXT] = [_context(np.flatnonzero(free), targets if classes else bins(targets), sizes.context[-1], rng)]
    if sizes.placebos:
        free[np.concatenate(roles[CONTEXT])] = False
        left = np.flatnonzero(free)
        chosen = draw(strata(targets[left], classes, sizes.placebos, rng), sizes.placebos, rng)
        roles[PLACEBO] = [rng.permutation(left[chosen])]
    return _table(records, {role: candidates[np.concatenate(parts)] for role, parts in roles.items()})


def add_labels(split: pd.DataFrame, target: pd.Series, sizes: Sizes, rng: np.random.Generator) -> pd.DataFrame:
    """Return the split with a column target_<condition> for each of CONDITIONS; target: of its records.

    Labels are shuffled within one role, and there among the records that are used at the same numbers of queries or
    context rows. So the marginals of queries, contexts and non-members are kept at every number that is used. A matched
    pair takes the labels of another pair: its two records stay as alike as they were, so that they can be exchanged in
    a permutation. Members' labels are the same under both conditions that shuffle them.
    """
    used = {QUERY: sizes.queries, NONMEMBER: sizes.queries, CONTEXT: sizes.context, PLACEBO: (), SPARE: ()}
    block = [np.searchsorted(used[role], place, "right") for role, place in zip(split.role, split.order, strict=True)]
    source, of_pairs = np.arange(len(split)), {}
    for (_, role, own), rows in split.assign(block=block, row=source).groupby(["side", "role", "block"]):
        places, order = rows.sort_values("order").row.to_numpy(), rng.permutation(len(rows))
        if role in (QUERY, NONMEMBER):
            order = of_pairs.setdefault(own, order)
        source[places] = places[order]
    value, shuffled = target.reset_index(drop=True), target.iloc[source].reset_index(drop=True)
    columns = (value, shuffled.where((split.side == MEMBERS).to_numpy(), value), shuffled)
    return split.assign(**{f"target_{name}": column for name, column in zip(CONDITIONS, columns, strict=True)})


def matched_targets(split: pd.DataFrame, target: pd.Series, queries: int) -> tuple[NDArray[Any], NDArray[Any], bool]:
    """Targets of the first `queries` query members and of their non-members, and whether they are classes.

    Numbers (record,), or of classes how many records each class has (class,).
    """
    first = (split.order < queries).to_numpy()
    inside, outside = (target[first & (split.role == role).to_numpy()] for role in (QUERY, NONMEMBER))
    if pd.api.types.is_numeric_dtype(target):
        return inside.to_numpy(np.float64), outside.to_numpy(np.float64), False
    known = pd.Index(sorted(set(target)))
    counts = (np.bincount(known.get_indexer(part), minlength=len(known)) for part in (inside, outside))
    return *counts, True


def _representatives(records: pd.DataFrame, rng: np.random.Generator) -> tuple[Indices, Array, bool]:
    """Place of one record of each unit, their targets (class codes or numbers), and whether targets are classes."""
    classes = not pd.api.types.is_numeric_dtype(records["target"])
    target = pd.factorize(records["target"], sort=True)[0] if classes else records["target"]
    mixed = rng.permutation(len(records))
    places = np.sort(mixed[np.unique(unit_codes(records)[mixed], return_index=True)[1]])
    return places, np.asarray(target, dtype=np.float64)[places], classes


def _check(targets: Array, classes: bool, sizes: Sizes) -> None:
    if classes and len(np.unique(targets)) == len(targets):
        raise AuditError(
            "every record has a class of its own, so nothing can be learned; choose another target or task"
        )
    queries, context = sizes.queries[-1], sizes.context[-1]
    pairs = ((np.unique(targets, return_counts=True)[1] - 1) // 2).sum()
    if classes and pairs < queries:
        raise AuditError(
            f"there are {pairs} pairs of records of one class, besides one record of each class for the context, and "
            f"{queries} are needed; set fewer queries in `iclmem`"
        )
    if (needed := 2 * queries + context + sizes.placebos) > len(targets):
        also = f", {sizes.placebos} negative controls" if sizes.placebos else ""
        raise AuditError(
            f"{queries} query members, as many non-members{also} and {context} context rows are {needed} records, "
            f"there are {len(targets)}; set fewer in `iclmem`"
        )


def _matched(free: Indices, targets: Array, classes: bool, size: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Pairs (size, 2) of member and non-member, stratified by the target and in random order."""
    pairs = free[_neighbours(targets[free], classes, size, rng)]
    chosen = pairs[draw(strata(targets[pairs[:, 0]], classes, size, rng), size, rng)]
    return rng.permuted(rng.permutation(chosen), axis=1)


def _neighbours(targets: Array, classes: bool, size: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Places (pair, 2) of records that are next to each other in the order of their targets, ties in random order."""
    order = np.lexsort((rng.random(len(targets)), targets))
    if not classes:
        # A random start: else the same records would be pairs in every split.
        order = order[rng.integers(2 if len(order) > 2 * size else 1) :]
        return order[: len(order) // 2 * 2].reshape(-1, 2)
    counts = np.unique(targets, return_counts=True)[1]
    turn = np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)
    # The first record of each class is kept for the context, which must contain every queried class.
    first = np.flatnonzero((turn % 2 == 1) & (turn + 1 < np.repeat(counts, counts)))
    return np.stack([order[first], order[first + 1]], axis=1)


def bins(numbers: Array) -> Array:
    """The bin of each number: BINS of equal width between the quantiles of RANGE; numbers beyond are in the outermost.

    The paper says that labels of a context are uniform, for numbers too, but not over which range.
    """
    low, high = np.sort(numbers)[[round(share * (len(numbers) - 1)) for share in RANGE]]
    inner = np.linspace(low, high, BINS + 1)[1:-1]
    return np.digitize(numbers, inner).astype(np.float64)


def _context(free: Indices, strata_of: Array, size: int, rng: np.random.Generator) -> Indices:
    """Context rows in order: one of each stratum in turn, so that the first ones are as uniform as all."""
    mixed = rng.permutation(free)
    turn = pd.Series(strata_of[mixed]).groupby(strata_of[mixed]).cumcount()
    return mixed[np.argsort(turn.to_numpy(), kind="stable")][:size]


def _table(records: pd.DataFrame, roles: dict[str, Indices]) -> pd.DataFrame:
    """All records with side, role and order; a record that shares a unit with a non-member is a non-member too."""
    unit = unit_codes(records)
    outside = np.isin(unit, unit[roles[NONMEMBER]])
    side = np.where(outside, NONMEMBERS, MEMBERS)
    role, order = np.full(len(records), SPARE, dtype=object), np.zeros(len(records), dtype=np.int64)
    for name, places in roles.items():
        role[places], order[places] = name, np.arange(len(places))
    spare = role == SPARE
    order[spare] = np.arange(spare.sum())
    return pd.DataFrame({"id": records["id"].to_numpy(), "side": side, "role": role.astype(str), "order": order})
