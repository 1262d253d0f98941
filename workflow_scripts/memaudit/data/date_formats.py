"""Layouts of dates in a text column: which part is the day, and the SQL that reads them all as UTC times."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from duckdb import DuckDBPyConnection

from memaudit.common.cell_notations import ORDERS
from memaudit.data.cell_shapes import normalised
from memaudit.data.duckdb_engine import literal

COMPACT = r"(19|20)[0-9]{6}"  # 20241231
ISO = r"[0-9]{4}-[0-9]{2}-[0-9]{2}([ T][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)?( ?(Z|[+-][0-9]{2}(:?[0-9]{2})?))?)?"
TIME = (
    r"(?:(?P<gap>T|a|,? )(?P<clock>9{1,2}:99(?::99)?(?P<part>\.9+)?)(?P<noon> ?a)?"
    r"(?P<zone> ?(?:a|[-+]99:?(?:99)?))?)?"
)
DATE = re.compile(
    r"(?P<one>9{1,2}|9{4}|a)(?P<sign>[-/. ]|\. )(?P<two>9{1,2}|a)(?P<next>[-/. ]|, )(?P<three>9{4}|99|9)" + TIME
)
# Two digits of a year that people mean in one way: 1970 to 2029.
LAST, FIRST = 29, 70


@dataclass(frozen=True)
class Layout:
    """Signs of a date's shape that do not depend on the order of its parts."""

    sign: str
    next: str
    word: int | None  # the place of the month's name
    years: tuple[int, int]  # digits of the first and of the last part, one of which is the year
    clock: str

    def formats(self, order: str) -> list[str]:
        """The formats for an order of the parts, none if the shape cannot have it."""
        year_first = order[0] == "y"
        if (self.years[0 if year_first else 1] not in (2, 4)) or (
            4 in self.years and (self.years[0] == 4) != year_first
        ):
            return []
        if self.word is not None and order[self.word] != "m":
            return []
        year = "%Y" if 4 in self.years else "%y"
        months = ["%m"] if self.word is None else ["%b", "%B"]
        named = [{"d": "%d", "m": month, "y": year} for month in months]
        return [
            parts[order[0]] + self.sign + parts[order[1]] + self.next + parts[order[2]] + self.clock for parts in named
        ]


def layouts(shapes: Mapping[str, int]) -> tuple[set[Layout], int]:
    """Layouts of the shapes that are dates without a zone, and the number of their cells."""
    found, cells = set(), 0
    for shape, count in shapes.items():
        if (layout := _layout(shape.replace("z", "9"))) is not None:
            found.add(layout)
            cells += count
    return found, cells


def _layout(shape: str) -> Layout | None:
    match = DATE.fullmatch(shape)
    if match is None or match["zone"]:
        return None
    parts = [match[name] for name in ("one", "two", "three")]
    words = [place for place, part in enumerate(parts) if part == "a"]
    first = len(parts[0]) == 4
    if len(words) > 1 or (first and len(parts[2]) == 4) or (not words and match["sign"] != match["next"]):
        return None
    return Layout(
        match["sign"], match["next"], words[0] if words else None, (len(parts[0]), len(parts[2])), _clock(match)
    )  # fmt: skip


def _clock(match: re.Match[str]) -> str:
    clock = match["clock"]
    if not clock:
        return ""
    gap = "T" if match["gap"] == "a" else match["gap"]
    seconds = ":%S" if clock.count(":") == 2 else ""
    part = ".%f" if match["part"] else ""
    noon = match["noon"]
    hour = "%I" if noon else "%H"
    return f"{gap}{hour}:%M{seconds}{part}" + (noon.replace("a", "%p") if noon else "")


def possible(connection: DuckDBPyConnection, table: str, text: str, found: Collection[Layout]) -> dict[str, int]:
    """By order of the parts: number of cells that are valid dates in it."""
    counts = {}
    for order in ORDERS:
        if formats := _formats(found, order):
            query = f"SELECT count({_parsed(text, formats)}) FROM {table}"
            counts[order] = connection.execute(query).fetchone()[0]
    return counts


def century_is_open(
    connection: DuckDBPyConnection, table: str, text: str, found: Collection[Layout], order: str
) -> bool:
    """Whether a year of two digits may belong to either century."""
    formats = _formats([layout for layout in found if 4 not in layout.years], order)
    if not formats:
        return False
    year = f"year({_parsed(text, formats)}) % 100"
    query = f"SELECT count(*) FROM {table} WHERE {year} > {LAST} AND {year} < {FIRST}"
    return connection.execute(query).fetchone()[0] > 0


def converted(text: str, found: Collection[Layout], order: str) -> str:
    """SQL of the cells as ISO dates."""
    return f"CAST({_parsed(text, _formats(found, order))} AS VARCHAR)"


def compact(text: str) -> str:
    """SQL of cells such as 20241231 as ISO dates, NULL for others."""
    return f"CASE WHEN regexp_full_match({text}, '{COMPACT}') THEN CAST(try_strptime({text}, '%Y%m%d') AS VARCHAR) END"


def zoned(text: str) -> str:
    """SQL of ISO dates with or without a zone as ISO dates in UTC."""
    utc = f"CAST(make_timestamp(epoch_us(try_cast({text} AS TIMESTAMPTZ))) AS VARCHAR)"
    return f"CASE WHEN {has_zone(text)} THEN {utc} ELSE {text} END"


def is_iso(text: str) -> str:
    """SQL of whether a cell is a valid ISO date, with or without a time and a zone."""
    return f"(regexp_full_match({text}, {literal(ISO)}) AND try_cast({text} AS TIMESTAMPTZ) IS NOT NULL)"


def is_date(text: str, found: Collection[Layout]) -> str:
    """SQL of whether a cell that is not missing is a date in some order of its parts."""
    formats = sorted({one for order in ORDERS for one in _formats(found, order)})
    return f"({is_iso(text)}{f' OR {_parsed(text, formats)} IS NOT NULL' if formats else ''})"


def has_zone(text: str) -> str:
    """SQL of whether an ISO date has a zone."""
    return f"regexp_matches({text}, ':[0-9.]+ ?(Z|[-+][0-9]{{2}}:?([0-9]{{2}})?)$')"


def _formats(found: Collection[Layout], order: str) -> list[str]:
    return sorted({one for layout in found for one in layout.formats(order)})


def _parsed(text: str, formats: Collection[str]) -> str:
    return f"try_strptime({normalised(text)}, [{', '.join(map(literal, formats))}])"
