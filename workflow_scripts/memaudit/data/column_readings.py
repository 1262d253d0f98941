"""How each text column of a user's table is read: numbers and dates in any notation, codes, or words.

The decision is by evidence over the whole column. Where its cells have two readings, another column of the file that
has one decides, or the user's option; otherwise the column is refused in one line that names both.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace

from duckdb import DuckDBPyConnection

from memaudit.common.errors import AuditError
from memaudit.data import cell_shapes, date_formats, number_formats
from memaudit.data.cell_shapes import Cells, count_cells, shapes
from memaudit.data.column_schema import STRAY
from memaudit.data.date_formats import Layout
from memaudit.data.duckdb_engine import literal
from memaudit.data.number_formats import CURRENCIES, Notation

NUMERIC, DATE, CODES = "numeric", "date", "codes"
DECLARE = "declare it (types: {{{}: categorical}}) or `drop` it"
ORDER_NAMES = {"dmy": "day, month, year", "mdy": "month, day, year", "ymd": "year, month, day"}


@dataclass(frozen=True)
class Choices:
    """The user's choices. types: by column; decimal and dates: of all columns; decimals and orders: of some columns.

    typed: whether the file has types of its own, so that its texts are no numbers or dates unless the user says so;
    target: a column that is read in any case, and may be words.
    """

    types: Mapping[str, str] = field(default_factory=dict)
    decimal: str | None = None
    dates: str | None = None
    decimals: Mapping[str, str] = field(default_factory=dict)
    orders: Mapping[str, str] = field(default_factory=dict)
    comma_delimited: bool = False
    typed: bool = False
    target: str | None = None


@dataclass(frozen=True)
class Reading:
    """How a column is read.

    kind: numeric, date, codes, or empty (as its text); value: SQL of its text in the notation of SQL, None if it is
    unchanged; remark: for readers, empty if there is nothing to say; percent: whether 12 % is read as 12.
    """

    kind: str = ""
    value: str | None = None
    remark: str = ""
    percent: bool = False


@dataclass(frozen=True)
class _Evidence:
    """What a column's cells may be. orders: number of valid dates by order of the parts; iso, zoned: of ISO dates."""

    name: str
    text: str
    cells: Cells
    notation: Notation | None = None
    layouts: Collection[Layout] = ()
    orders: Mapping[str, int] = field(default_factory=dict)
    iso: int = 0
    zoned: int = 0
    compact: bool = False

    def valid_orders(self) -> list[str]:
        """Orders in which every cell is a date; with points the day comes first if it can."""
        valid = [order for order, n in self.orders.items() if n == self.cells.present]
        points = {layout.sign.strip() for layout in self.layouts} == {"."}
        return ["dmy"] if points and "dmy" in valid else valid

    def is_plain_number(self) -> bool:
        """Whether all cells are numbers as SQL reads them, without doubt."""
        return self.cells.numbers == self.cells.present and not self.cells.doubtful_points

    def decimal_signs(self) -> tuple[str, ...]:
        """The decimal signs that are possible where all cells are numbers, none if no cell has a separator."""
        if self.is_plain_number():
            return (".",) if self.cells.points else ()
        if self.notation and self.notation.cells == self.cells.present:
            return tuple(sign for sign in self.notation.decimals if sign)
        return ()


def read_columns(
    connection: DuckDBPyConnection, table: str, texts: Mapping[str, str], choices: Choices
) -> dict[str, Reading]:
    """The reading of each column. Raises AuditError for cells of several kinds, and for two possible readings.

    table: SQL of the relation, with file_row_number; texts: by column, the SQL of its text, NULL where it is missing.
    """
    readings = dict.fromkeys(texts, Reading())
    texts = {name: text for name, text in texts.items() if choices.types.get(name) not in ("categorical", "text")}
    counts = count_cells(connection, table, texts)
    doubtful = {name: texts[name] for name, cells in counts.items() if cells.digits and not cells.plain}
    found = shapes(connection, table, doubtful)
    used = [
        _evidence(connection, table, name, texts[name], replace(cells, shapes=found.get(name, {})))
        for name, cells in counts.items()
        if cells.present
    ]
    reader = _Reader(connection, table, choices, *_of_the_file(used))
    faults = {}
    for one in used:
        try:
            readings[one.name] = reader.reading(one)
        except AuditError as error:
            faults[one.name] = str(error)
    if faults:
        names = ", ".join(map(repr, [*faults][1:]))
        more = f" ({len(faults) - 1} more columns are like this or cannot be read: {names})" if names else ""
        raise AuditError(next(iter(faults.values())) + more)
    return readings


def _of_the_file(evidence: Iterable[_Evidence]) -> tuple[dict[str, str], dict[str, str]]:
    """Decimal signs, and orders of dates, that the cells of some column decide, each with one such column."""
    signs, orders = {}, {}
    for one in evidence:
        known = one.decimal_signs()
        if len(known) == 1 and not one.cells.codes:
            signs.setdefault(known[0], one.name)
        valid = one.valid_orders()
        numbered = [
            layout for layout in one.layouts if layout.word is None and layout.sign != "." and layout.years[0] < 4
        ]
        if len(valid) == 1 and numbered:
            orders.setdefault(valid[0], one.name)
    return signs, orders


@dataclass(frozen=True)
class _Reader:
    """Decides the reading of a column. signs, orders: of `_of_the_file`."""

    connection: DuckDBPyConnection
    table: str
    choices: Choices
    signs: Mapping[str, str]
    orders: Mapping[str, str]

    def reading(self, one: _Evidence) -> Reading:
        """The reading of a column. Raises AuditError, see `read_columns`."""
        declared = self.choices.types.get(one.name)
        present = one.cells.present
        numeric = one.cells.numbers == present or (one.notation is not None and one.notation.cells == present)
        date = one.compact or one.iso == present or bool(one.valid_orders())
        is_target = one.name == self.choices.target
        if self.choices.typed and declared is None and not is_target:
            looks = "numbers" if numeric else "dates" if date else ""
            remark = f"text in the file, although its values look like {looks}; only a declared type reads them so"
            return Reading(remark=remark if looks else "")
        if date and (declared != NUMERIC or (is_target and not numeric)):
            return self._date(one)
        if numeric and declared != DATE:
            codes = one.cells.codes or (one.notation.codes if one.notation else 0)
            if codes and declared != NUMERIC:
                return Reading(CODES, None, "codes (leading zeros, or more than 15 digits), no numbers")
            return self._number(one)
        return self._mixed(one, declared)

    def _number(self, one: _Evidence) -> Reading:
        found = one.notation
        if found is None or one.is_plain_number():
            return Reading(NUMERIC)
        sign, why = self._decimal(one, found) if len(found.decimals) > 1 else (found.decimals[0], "")
        parts = number_formats.described(found, sign)
        if one.cells.numbers == one.cells.present and sign == ".":
            return Reading(NUMERIC, None, f"decimal point{why}" if why else "")
        value = number_formats.converted(one.text, found, sign)
        return Reading(NUMERIC, value, ", ".join(parts) + why, percent="%" in found.affix)

    def _decimal(self, one: _Evidence, found: Notation) -> tuple[str, str]:
        """The decimal sign of a column with two readings, and why."""
        given = self.choices.decimals.get(one.name) or self.choices.decimal
        if given in found.decimals:
            return given, ", as you say"
        if len(self.signs) == 1 and (sign := next(iter(self.signs))) in found.decimals:
            return sign, f", as in column {self.signs[sign]!r}"
        if one.cells.doubtful_points and self.choices.comma_delimited:
            return ".", ", since commas delimit the file's cells"
        mark, other = (".", ",") if one.cells.doubtful_points else (",", ".")
        raise AuditError(
            f"column {one.name!r}: its numbers can be read in two ways, since each {mark} has exactly three digits "
            f"behind it: 1{mark}234 is 1.234 with `decimal: {mark}`, and 1234 with `decimal: {other}`; "
            f"give one of them, or {DECLARE.format(one.name)}"
        )

    def _date(self, one: _Evidence) -> Reading:
        if one.compact:
            return Reading(DATE, date_formats.compact(one.text), "dates such as 20241231")
        if one.iso == one.cells.present:
            if not one.zoned:
                return Reading(DATE)
            without = one.cells.present - one.zoned
            rest = f"; {without} cells without a zone are taken as UTC" if without else ""
            return Reading(DATE, date_formats.zoned(one.text), f"dates in UTC{rest}")
        valid, why = one.valid_orders(), ""
        order = valid[0]
        if len(valid) > 1:
            order, why = self._order(one, valid)
        if date_formats.century_is_open(self.connection, self.table, one.text, one.layouts, order):
            raise AuditError(
                f"column {one.name!r}: its years have two digits, and those from 30 to 69 may be of two centuries; "
                f"write years with four digits, or {DECLARE.format(one.name)}"
            )
        century = any(4 not in layout.years for layout in one.layouts)
        note = ", years 70 to 99 are 19.., 00 to 29 are 20.." if century else ""
        value = date_formats.converted(one.text, one.layouts, order)
        return Reading(DATE, value, f"dates ({ORDER_NAMES[order]}){why}{note}")

    def _order(self, one: _Evidence, valid: Collection[str]) -> tuple[str, str]:
        """The order of the parts of a date with several readings, and why."""
        given = self.choices.orders.get(one.name) or self.choices.dates
        if given in valid:
            return given, ", as you say"
        if len(self.orders) == 1 and (order := next(iter(self.orders))) in valid:
            return order, f", as in column {self.orders[order]!r}"
        ways = " or ".join(f"`dates: {order}` ({ORDER_NAMES[order]})" for order in valid)
        raise AuditError(
            f"column {one.name!r}: its dates, such as 03/04/05, can be read in {len(valid)} ways, since no part tells "
            f"which is the day; give {ways}, or {DECLARE.format(one.name)}"
        )

    def _mixed(self, one: _Evidence, declared: str | None) -> Reading:
        """A column with cells of several kinds: as its text, if numbers and dates are rare or part of names."""
        present, dates = one.cells.present, max(one.iso, *one.orders.values(), 0)
        numbers = max(one.cells.numbers, one.notation.cells if one.notation else 0)
        bare = one.cells.numbers >= STRAY * present or (one.notation and one.notation.bare())
        # Parts of one or two digits alone are as often those of a version or a section.
        sure = one.iso or any(4 in layout.years for layout in one.layouts)
        refused = max(dates if sure else 0, numbers if bare else 0) >= STRAY * present
        kind, count = ("dates", dates) if dates >= numbers else ("numbers", numbers)
        # A number that only a notation makes one would pass for the first word in the column's next reader.
        judged = declared is None or (declared == NUMERIC and numbers > one.cells.numbers)
        if judged and refused and one.name != self.choices.target:
            raise AuditError(self._refusal(one, kind, count))
        return Reading(remark=f"{count} of {present} cells look like {kind}, the others do not" if count else "")

    def _refusal(self, one: _Evidence, kind: str, count: int) -> str:
        other = one.cells.present - count
        condition = f"({one.text}) IS NOT NULL AND ({cell_shapes.number(one.text)}) IS NULL"
        if kind == "dates":
            condition = f"({one.text}) IS NOT NULL AND NOT {date_formats.is_date(one.text, one.layouts)}"
        elif one.notation and one.cells.numbers < count:
            condition = f"({one.text}) IS NOT NULL AND NOT {cell_shapes.has_shape(one.text, one.notation.shapes)}"
        query = f"SELECT min(file_row_number) + 1 FROM {self.table} WHERE {condition}"
        row = self.connection.execute(query).fetchone()[0]
        where = f", the first in data row {row}" if row is not None else ""
        return (
            f"column {one.name!r} mixes {count} {kind} with {other} words or numbers written in another way{where}; "
            f"write them alike, {DECLARE.format(one.name)}, or list the word under `missing`"
        )


def _evidence(connection: DuckDBPyConnection, table: str, name: str, text: str, cells: Cells) -> _Evidence:
    one = _Evidence(name, text, cells)
    if cells.plain:
        if cells.present and cells.least is not None and cells.least >= 19e6 and cells.largest < 21e6:
            query = f"SELECT count({date_formats.compact(text)}) FROM {table}"
            one = replace(one, compact=connection.execute(query).fetchone()[0] == cells.present)
        return one
    if not cells.shapes:
        return one
    iso, zoned = date_formats.is_iso(text), date_formats.has_zone(text)
    if any(shape.replace("z", "9").startswith("9999-99-99") for shape in cells.shapes):
        query = f"SELECT count(*) FILTER ({iso}), count(*) FILTER ({iso} AND {zoned}) FROM {table}"
        found, with_zone = connection.execute(query).fetchone()
        one = replace(one, iso=found, zoned=with_zone)
    layouts, dates = date_formats.layouts(cells.shapes)
    if dates >= STRAY * cells.present and one.iso < cells.present:
        orders = date_formats.possible(connection, table, text, layouts)
        one = replace(one, layouts=tuple(layouts), orders=orders)
    notation = number_formats.notation(cells.shapes)
    if notation and _same_letters(connection, table, text, notation):
        one = replace(one, notation=notation)
    return one


def _same_letters(connection: DuckDBPyConnection, table: str, text: str, found: Notation) -> bool:
    """Whether all letters among the numbers are one unit, one currency, or the e of an exponent."""
    if not found.lettered() and not found.exponent:
        return True
    cell = cell_shapes.normalised(text)
    rest = f"regexp_replace({cell}, '[^\\pL\\pM]', '', 'g')"
    numbers = f"FROM {table} WHERE regexp_full_match({cell}, {literal(cell_shapes.NUMBER)}) AND {rest} <> ''"
    first = connection.execute(f"SELECT {rest} {numbers} LIMIT 1").fetchone()[0]
    if "a" in found.affix[0] and first not in CURRENCIES:  # of most columns of names and numbers, in which all differ
        return False
    query = f"SELECT DISTINCT {rest} {numbers} LIMIT 3"
    letters = {word for (word,) in connection.execute(query).fetchall()}
    if found.exponent:
        return letters <= {"e", "E"} and not found.lettered()
    return len(letters) == 1 and ("a" not in found.affix[0] or letters <= CURRENCIES)
