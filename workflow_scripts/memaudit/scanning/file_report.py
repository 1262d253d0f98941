"""What a model's file holds of a table, and the lines that say it, without a value of a cell."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from memaudit.common.errors import AuditError
from memaudit.scanning.array_columns import Candidate, candidates
from memaudit.scanning.containers import Content
from memaudit.scanning.known_globals import is_known
from memaudit.scanning.object_walk import Found, arrays, is_cache
from memaudit.scanning.own_table import FEWEST_ROWS, Column
from memaudit.scanning.row_matches import Match, matches

LISTED, MOST_NAMES = 20, 6
PARAMETERS = (".weight", ".bias")


@dataclass
class Report:
    """What was found. cached: rows of each key/value cache; rows: numbers (from 0) of the table's rows in the file."""

    kinds: list[str]
    arrays: list[Found]
    caches: list[Found]
    matches: list[Match] = field(default_factory=list)
    cached: str = ""  # what is known of the caches, in words
    inside: bool = False
    runs_code: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)

    @property
    def rows(self) -> int:
        """Number of different rows of the table that were found."""
        return len(set().union(*(one.rows.tolist() for one in self.matches)))


def examine(content: Content, table: Sequence[Column] | None) -> Report:
    """The report on a file. Raises AuditError for one that holds no array but calls functions that are not known."""
    found = list(arrays(content))
    runs_code = sorted(str(one) for one in content.called.values() if not is_known(one))
    if not found and runs_code:
        raise AuditError(f"calls {runs_code[0][:100]} when it is loaded and holds no array; do not load it")
    caches = [one for one in found if is_cache(one)]
    others = [one for one in found if not is_cache(one)]
    report = Report(list(dict.fromkeys(content.kinds)), others, caches, runs_code=runs_code, unread=content.unread)
    by_rows: dict[int, list[Candidate]] = defaultdict(list)
    for one in others:
        for candidate in candidates(one):
            by_rows[len(candidate.values)].append(candidate)
    if table is not None:
        report.matches = [match for group in by_rows.values() for match in matches(table, group)]
    report.inside = bool(report.matches)
    if caches:
        _judge_caches(report, table, set(by_rows))
    return report


def _judge_caches(report: Report, table: Sequence[Column] | None, known: set[int]) -> None:
    """Say how many rows the caches hold, and whether these are the table's.

    known: numbers of rows of the other arrays. Keys and values cannot be compared with a table: the rows of the arrays
    beside them decide; without such arrays a cache is taken to be the table's.
    """
    lengths = [length for one in report.caches for length in one.array.shape if length >= FEWEST_ROWS]
    own = {len(match.candidate.values) for match in report.matches} or ({len(table[0].values)} if table else set())
    for preferred in (own, known, set(lengths)):
        if counted := [length for length in lengths if length in preferred]:
            break
    if not counted:
        return
    count = max(counted, key=lambda one: (counted.count(one), one))
    of_rows = [one for one in report.caches if count in one.array.shape]
    shapes = sorted({" x ".join(map(str, one.array.shape)) for one in of_rows})
    report.cached = (
        f"a key/value cache holds keys and values of every one of {count} rows, in {len(of_rows)} arrays "
        f"({'; '.join(shapes[:3])})"
    )
    compared = any(_rows_compared(one, count) for one in report.arrays)
    if table is not None and not report.matches and not compared:
        report.inside = True
        rows = len(table[0].values)
        same = "as many as the table has" if rows == count else f"the table has {rows}"
        report.cached += f", {same}; nothing beside it can be compared with the table, so its rows are not ruled out"


def _rows_compared(one: Found, count: int) -> bool:
    """Whether an array has this many rows of several columns, so that it would have shown the table's."""
    return one.array.ndim == 2 and one.array.shape[0] == count and one.array.shape[1] > 1


def lines(report: Report, name: str, table: str | None, rows: int) -> list[str]:
    """The report in words; name: of the file, table: of the table, with its number of rows."""
    kind = ", ".join(report.kinds)
    if table is None:
        found = [
            f"{name} ({kind}): arrays with {FEWEST_ROWS} rows or more; compare them with a table by --table",
            *_listed(report),
        ]
    elif report.matches:
        least = "" if report.rows == rows else "at least "
        found = [f"{least}{report.rows} of {rows} rows of {table} are inside {name} ({kind})"]
        found += [f"  {_place(one.candidate.found)}: {_recognised(one)}" for one in report.matches[:LISTED]]
    else:
        found = [f"no rows of {table} were found in {name} ({kind}); {len(report.arrays)} arrays were compared"]
    found += [f"  {report.cached}"] * bool(report.cached)
    if report.runs_code:
        more = f" and {len(report.runs_code) - MOST_NAMES} more" if len(report.runs_code) > MOST_NAMES else ""
        names = ", ".join(one[:100] for one in report.runs_code[:MOST_NAMES])
        found.append(f"  would run code when it is loaded: {names}{more}")
    found += [f"  not read: {one[:200]}" for one in report.unread[:MOST_NAMES]]
    return found


def _listed(report: Report) -> list[str]:
    """The largest arrays that may be a table."""
    wanted = [one for one in report.arrays if one.array.ndim in (1, 2) and len(one.array) >= FEWEST_ROWS]
    wanted = [one for one in wanted if not one.place.names(1)[-1:] or one.place.names(1)[-1] not in PARAMETERS]
    wanted.sort(key=lambda one: -one.array.size)
    more = [f"  and {len(wanted) - LISTED} smaller ones"] if len(wanted) > LISTED else []
    return [f"  {_described(one)}" for one in wanted[:LISTED]] + more or ["  none"]


def _described(found: Found) -> str:
    array = found.array
    kind = "texts or objects" if array.dtype.kind in "OSU" else "fields" if array.dtype.names else str(array.dtype)
    columns = len(array.dtype.names) if array.dtype.names else int(np.prod(array.shape[1:]))
    return f"{_place(found)}: {len(array)} rows, {columns} columns ({kind})"


def _place(found: Found) -> str:
    return str(found.place) or "the file itself"


def _recognised(match: Match) -> str:
    rows, columns = match.candidate.values.shape
    named = ", ".join(repr(one) for one in match.columns[:MOST_NAMES])
    more = f" and {len(match.columns) - MOST_NAMES} more" if len(match.columns) > MOST_NAMES else ""
    return (
        f"{rows} rows, {columns} columns, with {len(match.rows)} rows of the table, recognised by {named}{more}, "
        f"{match.how}"
    )
