"""Which rows of the user's table a model's arrays hold, whatever the order of rows and columns and the units.

Three comparisons, each on all arrays of the same number of rows together, since a model may keep its columns apart:
*in order*: as many rows as the table has; a column agrees where its ranks do (any increasing or decreasing map, such as
standardisation or a power transform), or where equal values stand in the same rows (any coding of categories).
*By value*: rows in any order, or some of them. A number that occurs once in a column of the table and once in one of
the array, as it is or after one affine map, pairs two rows; another column, which that one does not determine, must
then agree on the pairs.
*By combination*: whole rows of columns with few values, in the table's order of columns. Far more of the table's unique
rows must be found than an independent sample of the same people would hold, by Good and Turing's estimate.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from memaudit.common.arrays import Array
from memaudit.scanning.affine_maps import affine_map, shape
from memaudit.scanning.array_columns import Candidate, as_places, as_written
from memaudit.scanning.own_table import SORTED, Column, appearance, centred_ranks, informative

SAME_ORDER = 0.999  # least rank correlation of a column with itself after a map
FEWEST_PAIRS, FEWEST_EXACT = 20, 3
DETERMINED = 0.95  # rank correlation above which a column tells nothing that another one does not
PRECISION = 5e-7  # relative, of float32
AGREE = 0.9  # of the pairs
FEWEST_UNIQUE = 10
ANCHORS = 5  # columns by whose values the rows of an array are paired, at most
SCALED = 8  # columns of an array that are tried for a shift and a scale, for each column of the table
PARAMETERS = ("_rebuild_parameter", "_rebuild_parameter_with_state")  # of a network: never standardised rows


@dataclass(frozen=True, eq=False)
class Match:
    """Rows of the table that one array holds at least.

    rows: their numbers, from 0; columns: names of those that agree; how: in words.
    """

    candidate: Candidate
    rows: Array
    columns: list[str]
    how: str


def matches(table: Sequence[Column], candidates: Sequence[Candidate]) -> Iterator[Match]:
    """Every array of candidates that holds rows of the table, once. The candidates have the same number of rows."""
    rows, count = len(table[0].values), len(candidates[0].values)
    left = list(candidates)
    if rows == count and rows >= FEWEST_PAIRS:
        in_order = [(one, agreeing(table, np.arange(rows), one, np.arange(rows), ordered=True)) for one in candidates]
        yield from (
            Match(one, np.arange(rows), names, "in the table's order of rows") for one, names in in_order if names
        )
        left = [one for one, names in in_order if not names]
    yield from _by_value(table, [as_written(one, table) for one in left])


def _by_value(table: Sequence[Column], candidates: Sequence[Candidate]) -> Iterator[Match]:
    """Matches of rows in any order: the rows that several columns pair, or that whole combinations of values show."""
    found: dict[int, list[Match]] = {id(one): [] for one in candidates}
    for anchor, ours, theirs, values, how in _pairings(table, candidates):
        waiting = [one for one in candidates if len(found[id(one)]) < ANCHORS]
        if not waiting:
            break
        others = [column for column in table if not determines(table[anchor], column)]
        for one in waiting:
            names = agreeing(others, ours, one, theirs, ordered=False)
            names += [name for name in _equal(others, ours, one, theirs) if name not in names]
            own = [table[anchor].name] if one is values else []
            found[id(one)] += [Match(one, np.unique(ours), [*own, *names], how)] if names else []
    for one in candidates:
        if several := found[id(one)]:
            rows = np.unique(np.concatenate([match.rows for match in several]))
            names = list(dict.fromkeys(name for match in several for name in match.columns))
            yield Match(one, rows, names, several[0].how)
        elif (combined := _combined(table, one)) is not None:
            yield combined


def agreeing(
    columns: Sequence[Column], ours: Array, candidate: Candidate, theirs: Array, *, ordered: bool
) -> list[str]:
    """Names of columns that a candidate holds, up to a map of their values.

    ours, theirs: paired rows of the table and of the candidate; ordered: the pairs are the order of rows, which may
    agree because both are sorted.
    """
    if len(ours) < FEWEST_PAIRS:
        return []
    values = candidate.values[theirs]
    ranks = [centred_ranks(values[:, place]) for place in range(values.shape[1])]
    coded = {appearance(values[:, place]).tobytes() for place in range(values.shape[1])}
    matrix = np.array([one for one in ranks if one is not None])
    names = []
    for column in columns:
        codes, own = appearance(column.values[ours]), centred_ranks(column.values[ours])
        same = informative(codes) and codes.tobytes() in coded
        if not same and column.numeric and own is not None and len(matrix):
            order = np.arange(len(ours)) - (len(ours) - 1) / 2
            is_sorted = ordered and abs(own @ order) / np.sqrt(order @ order) > SORTED
            same = not is_sorted and bool((np.abs(matrix @ own) >= SAME_ORDER).any())
        names += [column.name] * same
    return names


def determines(anchor: Column, column: Column) -> bool:
    """Whether a column follows from the anchor's value in the table itself, so that it agrees wherever that does."""
    if anchor is column:
        return True
    first, second = anchor.ranks, column.ranks
    if first is not None and second is not None:
        return bool(abs(first @ second) > DETERMINED)
    order = np.argsort(anchor.values, kind="stable")
    return not informative(appearance(column.values[order]))


def _pairings(
    table: Sequence[Column], candidates: Sequence[Candidate]
) -> Iterator[tuple[int, Array, Array, Candidate, str]]:
    """Rows of the table and of an array that are paired by a value: (column, ours, theirs, the array, how).

    All values as they are come first, then those after a shift and a scale, of the columns of most similar shape.
    """
    theirs = [(one, values, _once(values)) for one in candidates for values in one.values.T]
    scaled = [(one, values, shape(values)) for one, values, _ in theirs if one.found.owner not in PARAMETERS]
    scaled = [one for one in scaled if one[2] is not None]
    recognising = [(place, column) for place, column in enumerate(table) if column.recognises]
    for place, column in recognising:
        own = _once(column.values)
        for one, _, once in theirs:
            if (found := _paired(own, once)) is not None:
                yield place, *found, one, "by their values"
    for place, column in recognising:
        own, known = _once(column.values), shape(column.values)
        if known is None:
            continue
        near = sorted(scaled, key=lambda one: float(np.abs(one[2] - known).max()))[:SCALED]
        for one, values, _ in near:
            mapped = affine_map(values, column.values)
            if mapped is not None and (found := _paired(own, _once(mapped))) is not None:
                yield place, *found, one, "by their values, up to a shift and a scale"


def _paired(ours: tuple[Array, Array], theirs: tuple[Array, Array]) -> tuple[Array, Array] | None:
    """Places of equal values (in single precision), each given as `_once`; None for fewer than three."""
    (own, row), (other, place) = ours, theirs
    if not len(own) or not len(other):
        return None
    nearest = np.searchsorted(own, other).clip(1, max(len(own) - 1, 1))
    nearest -= np.abs(other - own[nearest - 1]) < np.abs(other - own[nearest.clip(max=len(own) - 1)])
    close = np.abs(own[nearest] - other) <= PRECISION * np.maximum(np.abs(other), np.abs(own).max() * 1e-3)
    if np.count_nonzero(close) < max(FEWEST_EXACT, 0.02 * min(len(own), len(other))):
        return None
    return row[nearest[close]], place[close]


def _once(values: Array) -> tuple[Array, Array]:
    """Sorted values that occur once, and their places."""
    known = np.flatnonzero(np.isfinite(values))
    distinct, place, counts = np.unique(values[known], return_index=True, return_counts=True)
    return distinct[counts == 1], known[place[counts == 1]]


def _equal(columns: Sequence[Column], ours: Array, candidate: Candidate, theirs: Array) -> list[str]:
    """Names of columns that recognise rows and whose own values stand in the paired rows."""
    names, others = [], candidate.values[theirs]
    for column in (one for one in columns if one.recognises):
        own = column.values[ours, None]
        same = np.abs(own - others) <= PRECISION * np.maximum(np.abs(own), 1e-30)
        enough = (same.mean(0) >= AGREE) & (same.sum(0) >= FEWEST_EXACT)
        if any(len(np.unique(own[same[:, place]])) > 2 for place in np.flatnonzero(enough)):
            names.append(column.name)
    return names


def _combined(table: Sequence[Column], candidate: Candidate) -> Match | None:
    """Rows found as whole combinations of values, where an independent sample would not hold so many of them."""
    chosen = _in_order(table, candidate)
    if len(chosen) < 2:
        return None
    own = pd.DataFrame({place: table[place].values for place in chosen})
    other = pd.DataFrame(chosen)
    own, other = (frame.astype("float32").round(5).fillna(-1e30) for frame in (own, other))
    counts = own.groupby(list(own), sort=False)[next(iter(chosen))].transform("size").to_numpy()
    keys = pd.MultiIndex.from_frame(own).isin(pd.MultiIndex.from_frame(other.drop_duplicates()))
    once, twice = np.count_nonzero(counts == 1), np.count_nonzero(counts == 2) / 2
    found = np.count_nonzero(keys & (counts == 1))
    # Probability of one more record with a combination that was seen once: 2 N2 / (n N1), at least one such pair.
    each = 2 * max(twice, 1.0) / (len(own) * max(once, 1))
    chance = once * -np.expm1(len(other) * np.log1p(-min(each, 0.999)))
    if found < max(FEWEST_UNIQUE, 2 * chance + 5 * np.sqrt(chance)):
        return None
    return Match(candidate, np.flatnonzero(keys), [table[place].name for place in chosen], "by combinations of values")


def _in_order(table: Sequence[Column], candidate: Candidate) -> dict[int, Array]:
    """The candidate's columns by the place of the table's column that has their values, in the table's order."""
    chosen: dict[int, Array] = {}
    start = 0
    for column in range(candidate.values.shape[1]):
        texts = candidate.texts[column]
        for place in range(start, len(table)):
            values = candidate.values[:, column] if texts is None else as_places(texts, table[place])
            known = np.unique(values[np.isfinite(values)])
            own = table[place].values
            if len(known) > 1 and np.isin(np.float32(known), np.float32(own)).mean() > AGREE:
                chosen[place], start = values, place + 1
                break
    return chosen
