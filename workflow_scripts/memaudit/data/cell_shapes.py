"""Counts of a text column's cells, and their shapes: what tells a number in another notation, or a date, from a word.

A shape is a cell without its content: each digit is 9, each run of letters is a, a leading zero is z, blanks and minus
signs of all kinds are one sign. "1.234,50 EUR" has the shape "9.999,99 a". Shapes are few, however long a column is.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from duckdb import DuckDBPyConnection

from memaudit.data.duckdb_engine import literal

BLANKS = "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000\t\r\n"
APOSTROPHES = "\u2019\u2018\u00b4\u0060\u02bc"
MINUSES = "\u2212\u2012\u2013\u2014\ufe63\uff0d"
LEADING_ZERO = "\u0001"
LONGEST = 48  # characters of a cell that may be a number or a date
NUMBER = r"[^0-9]{0,8}[0-9][0-9.,' ]*([eE][-+]?[0-9]{1,3})?[^0-9]{0,16}"
DATE = r"[0-9A-Za-z]{1,9}[-/., ]+[0-9A-Za-z]{1,9}[-/., ]+[0-9]{1,4}([T ,].{0,24})?|[0-9]{4}-[0-9]{2}-[0-9]{2}T.{0,24}"
MOST_EXACT = 1e15  # whole numbers from here on are codes: a float cannot tell them apart
PER_QUERY = 4  # columns: the time to plan a query grows faster than its length


@dataclass(frozen=True)
class Cells:
    """Counts of a column's cells that are not missing, as SQL reads them, and by shape where that does not suffice."""

    present: int = 0
    numbers: int = 0
    codes: int = 0  # a leading zero, or too many digits
    points: int = 0
    points_and_three: int = 0  # "1.234", which may be 1234
    digits: int = 0  # cells with a digit
    least: float | None = None
    largest: float | None = None
    shapes: Mapping[str, int] = field(default_factory=dict)

    @property
    def plain(self) -> bool:
        """Whether all cells are numbers that can be read in one way only."""
        return self.numbers == self.present and not self.codes and not self.doubtful_points

    @property
    def doubtful_points(self) -> bool:
        """Whether each point among the numbers has exactly three digits behind it."""
        return 0 < self.points == self.points_and_three


def normalised(text: str) -> str:
    """SQL of a text in which blanks, apostrophes and minus signs of all kinds are one sign each."""
    old = BLANKS + APOSTROPHES + MINUSES
    new = " " * len(BLANKS) + "'" * len(APOSTROPHES) + "-" * len(MINUSES)
    return f"trim(translate({text}, {literal(old)}, {literal(new)}))"


def number(text: str) -> str:
    """SQL of a text's number in the notation of SQL, NULL if it is none (SQL takes 1_000 for one)."""
    return f"CASE WHEN contains({text}, '_') THEN NULL ELSE try_cast({text} AS DOUBLE) END"


def count_cells(connection: DuckDBPyConnection, table: str, texts: Mapping[str, str]) -> dict[str, Cells]:
    """Counts by column. table: SQL of the relation; texts: by column, the SQL of its text, NULL where it is missing."""
    found = {}
    for names in _slices(list(texts)):
        inner = ", ".join(f"{texts[name]} AS c{place}" for place, name in enumerate(names))
        counts = ", ".join(_counts(f"c{place}") for place in range(len(names)))
        values = connection.execute(f"SELECT {counts} FROM (SELECT {inner} FROM {table})").fetchone()
        for place, name in enumerate(names):
            found[name] = Cells(*values[8 * place : 8 * place + 8])
    return found


def shapes(connection: DuckDBPyConnection, table: str, texts: Mapping[str, str]) -> dict[str, dict[str, int]]:
    """By column: number of cells of each shape, of those cells that may be numbers or dates; see `count_cells`."""
    found = {}
    for names in _slices(list(texts)):
        inner = ", ".join(f"{normalised(texts[name])} AS c{place}" for place, name in enumerate(names))
        counts = ", ".join(
            f"histogram({_shape(cell)}) FILTER ({_candidate(cell)})" for cell in (f"c{i}" for i in range(len(names)))
        )
        values = connection.execute(f"SELECT {counts} FROM (SELECT {inner} FROM {table})").fetchone()
        for name, histogram in zip(names, values, strict=True):
            found[name] = {shape.replace(LEADING_ZERO, "z"): n for shape, n in (histogram or {}).items()}
    return found


def has_shape(text: str, known: Collection[str]) -> str:
    """SQL of whether a cell that is not missing has one of the shapes."""
    cell = normalised(text)
    listed = ", ".join(literal(shape.replace("z", LEADING_ZERO)) for shape in known)
    return f"({_candidate(cell)} AND {_shape(cell)} IN ({listed}))"


def _slices(names: Sequence[str]) -> list[Sequence[str]]:
    return [names[start : start + PER_QUERY] for start in range(0, len(names), PER_QUERY)]


def _counts(cell: str) -> str:
    value = number(cell)
    # Without regular expressions: this runs on every column, also on those that need no shapes.
    conditions = [
        f"({cell} LIKE '0_%' AND substr({cell}, 2, 1) BETWEEN '0' AND '9') OR "
        f"(abs({value}) >= {MOST_EXACT} AND NOT isinf({value}) "
        f"AND NOT contains({cell}, '.') AND NOT contains(lower({cell}), 'e'))",
        f"contains({cell}, '.')",
        f"substr({cell}, -4, 1) = '.' AND abs({value}) >= 1 AND abs({value}) < 1000",
        f"translate({cell}, '0123456789', '') <> {cell}",
    ]
    counts = [f"count({cell})", f"count({value})", *(f"count(*) FILTER ({one})" for one in conditions)]
    return ", ".join([*counts, f"min({value})", f"max({value})"])


def _candidate(cell: str) -> str:
    return f"length({cell}) <= {LONGEST} AND regexp_full_match({cell}, {literal(f'{NUMBER}|{DATE}')})"


def _shape(cell: str) -> str:
    zero = f"regexp_replace({cell}, '^([^0-9.,]*)0', '\\1{LEADING_ZERO}')"
    digits = f"translate({zero}, '012345678', '999999999')"
    return f"regexp_replace({digits}, '[\\pL\\pM]+', 'a', 'g')"
