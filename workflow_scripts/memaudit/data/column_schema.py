"""Types of a raw table's columns (numeric, categorical, text, date), and the SQL that reads each column.

A declared type has precedence (the catalogue's, then the source's own). Otherwise: all values numbers -> numeric; all
ISO dates -> date; at most max(20, 5 % of the rows, up to 1000) distinct values -> categorical; else text. A column with
numbers in at least 5 % of its values, but not in all, must be declared by the user. Where the source has types, as
Parquet has and CSV has not, its text columns are categorical or text, never numbers or dates.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import duckdb

from memaudit.common.cell_notations import MISSING
from memaudit.common.errors import AuditError
from memaudit.data.duckdb_engine import identifier, literal

TYPES = ("numeric", "categorical", "text", "date")
RESERVED = ("id", "group", "target", "side")
STRAY = 0.05
COLUMNS_PER_QUERY = 20  # the time to plan a query grows with the square of its length
NUMBERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT")
ISO_DATE = r"\d{4}-\d{2}-\d{2}([ T]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?"


@dataclass(frozen=True)
class Roles:
    """How a raw table is read.

    task: classification (the target is read as categories) or regression (as numbers). types: by column, in place of
    the detected types. missing: texts that mean missing, as an empty cell does. missing_target: error, or drop such
    rows. group: column of the privacy unit. typed: whether the source has types of its own.
    """

    task: str
    target: str
    types: Mapping[str, str] = field(default_factory=dict)
    drop: Sequence[str] = ()
    missing: Sequence[str] = MISSING
    missing_target: str = "error"
    group: str | None = None
    typed: bool = False


@dataclass(frozen=True)
class Column:
    """A column of the table of records."""

    name: str
    source: str
    type: str
    value: str  # SQL of its typed value


@dataclass(frozen=True)
class _Raw:
    """A raw column: its SQL as cleaned text and as number, and counts of its values."""

    name: str
    native: str
    text: str
    number: str
    present: int = 0
    numbers: int = 0
    infinite: int = 0
    dates: int = 0


def infer(connection: duckdb.DuckDBPyConnection, reading: Roles) -> tuple[list[Column], Column]:
    """Return the feature columns and the target of the relation `raw` (with `file_row_number`).

    Raises AuditError, naming column and data row but never a value, for an unknown column, a column without any value,
    numbers mixed with words, infinite values, a type that cannot be read, and a table without features.
    """
    raw = _profile(connection, reading)
    check_roles(raw, reading)
    others = (reading.target, reading.group, *reading.drop)
    kept = [column for column in raw.values() if column.name not in others]
    if not kept:
        raise AuditError(f"no features are left besides target {reading.target!r}; see `drop`")
    if empty := [column.name for column in kept if not column.present]:
        raise AuditError(f"column {', '.join(map(repr, empty))}: missing in every row; `drop` it, or correct `missing`")
    features = [
        _read(connection, column, reading.types.get(column.name), _stored(column.name, raw), reading.typed)
        for column in kept
    ]
    return features, _target(connection, raw[reading.target], reading.task)


def cleaned(column: str, missing: Sequence[str] = MISSING) -> str:
    """SQL of a column as text without outer blanks, NULL where it is empty or holds a mark of a missing value."""
    text = f"trim(CAST({identifier(column)} AS VARCHAR))"
    return f"CASE WHEN {text} IN ({', '.join(map(literal, ('', *missing)))}) THEN NULL ELSE {text} END"


def first_row(connection: duckdb.DuckDBPyConnection, condition: str) -> int:
    """Number of the first data row (the header not counted) that meets a condition."""
    return connection.execute(f"SELECT min(file_row_number) + 1 FROM raw WHERE {condition}").fetchone()[0]


def sort_categories(values: Sequence[str]) -> list[str]:
    """Categories in a fixed order: by size if all are numbers, else by code point."""
    try:
        return sorted(values, key=lambda value: (float(value), value))
    except ValueError:
        return sorted(values)


def _profile(connection: duckdb.DuckDBPyConnection, reading: Roles) -> dict[str, _Raw]:
    described = connection.execute("DESCRIBE raw").fetchall()
    columns = [
        # A dropped column may have any type.
        _expressions(name, "VARCHAR" if name in reading.drop else native, reading.missing)
        for name, native, *_ in described
        if name != "file_row_number"
    ]
    counted: list[int] = []
    for start in range(0, len(columns), COLUMNS_PER_QUERY):
        counts = ", ".join(map(_counts, columns[start : start + COLUMNS_PER_QUERY]))
        counted += connection.execute(f"SELECT {counts} FROM raw").fetchone()
    return {
        c.name: _Raw(c.name, c.native, c.text, c.number, *counted[4 * i : 4 * i + 4]) for i, c in enumerate(columns)
    }


def _counts(column: _Raw) -> str:
    """SQL of a column's counts: values, numbers, infinite numbers, dates."""
    if column.native == "number":
        return f"count({column.number}), count({column.number}), count_if(isinf({column.number})), 0"
    dates = (
        f"regexp_full_match({column.text}, {literal(ISO_DATE)}) AND try_cast({column.text} AS TIMESTAMP) IS NOT NULL"
    )
    return f"count({column.text}), count({column.number}), count_if(isinf({column.number})), count_if({dates})"


def _expressions(name: str, native: str, missing: Sequence[str]) -> _Raw:
    column = identifier(name)
    if native in (*NUMBERS, "FLOAT", "DOUBLE") or native.startswith("DECIMAL"):
        # Adding 0 makes -0 and 0 one value; NaN is a missing value.
        number = f"nullif(CAST({column} AS DOUBLE), 'nan'::DOUBLE) + 0.0"
        whole = f"abs({number}) < 1e15 AND {number} = floor({number})"
        text = f"CASE WHEN {whole} THEN CAST(CAST({number} AS BIGINT) AS VARCHAR) ELSE CAST({number} AS VARCHAR) END"
        return _Raw(name, "number", text, number)
    if native.startswith(("DATE", "TIMESTAMP")):
        return _Raw(name, "date", f"CAST({column} AS VARCHAR)", "CAST(NULL AS DOUBLE)")
    if native in ("VARCHAR", "BOOLEAN", '"NULL"') or native.startswith("ENUM"):
        text = cleaned(name, missing)
        # SQL reads 1_000 as a number, other tools do not.
        number = f"nullif(try_cast({text} AS DOUBLE), 'nan'::DOUBLE) + 0.0"
        return _Raw(name, "text", text, f"CASE WHEN contains({text}, '_') THEN NULL ELSE {number} END")
    raise AuditError(f"column {name!r} holds {native}; numbers, text, booleans and dates are read: `drop` the column")


def to_drop(entry: Mapping[str, Any], facts: Mapping[str, Any]) -> list[str]:
    """The columns that an entry of the catalogue leaves out, without those that the source has left out itself."""
    return [name for name in entry.get("drop") or [] if name not in facts.get("ignored", [])]


def check_roles(known: Iterable[str], reading: Roles) -> None:
    """Raise AuditError for a column that the table, whose columns are known, does not have."""
    known, group = list(known), [] if reading.group is None else [reading.group]
    named = {"target": [reading.target], "group": group, "drop": reading.drop, "types": reading.types}
    for key, names in named.items():
        if unknown := [name for name in names if name not in known]:
            raise AuditError(f"{key}: there is no column {unknown[0]!r}; the table has {', '.join(known)}")


def _stored(name: str, taken: Mapping[str, _Raw]) -> str:
    """The name, with underscores appended where the table of records uses it itself."""
    if name.lower() not in RESERVED:
        return name
    others = {other.lower() for other in taken}
    while name.lower() in (*RESERVED, *others):
        name += "_"
    return name


def _read(connection: duckdb.DuckDBPyConnection, raw: _Raw, declared: str | None, stored: str, typed: bool) -> Column:
    detect = _detect_text if typed and raw.native == "text" else _detect
    kind = declared or detect(connection, raw)
    if kind == "numeric":
        _all_finite_numbers(connection, raw)
        return Column(stored, raw.name, kind, raw.number)
    if kind == "date":
        if raw.native != "date" and raw.dates < raw.present:
            row = first_row(connection, f"try_cast({raw.text} AS TIMESTAMP) IS NULL AND {raw.text} IS NOT NULL")
            raise AuditError(f"column {raw.name!r} is declared date, but data row {row} is no ISO date (2024-12-31)")
        return Column(stored, raw.name, kind, f"CAST({raw.text} AS TIMESTAMP)")
    return Column(stored, raw.name, kind, raw.text)


def _detect(connection: duckdb.DuckDBPyConnection, raw: _Raw) -> str:
    if raw.native != "text":
        return "numeric" if raw.native == "number" else "date"
    if raw.numbers == raw.present:
        return "numeric"
    if raw.numbers >= STRAY * raw.present:
        row = first_row(connection, f"{raw.text} IS NOT NULL AND ({raw.number}) IS NULL")
        raise AuditError(
            f"column {raw.name!r} mixes {raw.numbers} numbers with {raw.present - raw.numbers} words, the first in "
            f"data row {row}; declare it (types: {{{raw.name}: categorical}}) or list the word under `missing`"
        )
    if raw.dates == raw.present:
        return "date"
    return _detect_text(connection, raw)


def _detect_text(connection: duckdb.DuckDBPyConnection, raw: _Raw) -> str:
    rows = connection.execute("SELECT count(*) FROM raw").fetchone()[0]
    limit = max(20, min(1000, rows // 20))
    distinct = f"SELECT DISTINCT {raw.text} AS value FROM raw WHERE {raw.text} IS NOT NULL LIMIT {limit + 1}"
    values = connection.execute(f"SELECT count(*) FROM ({distinct})").fetchone()[0]
    return "categorical" if values <= limit else "text"


def _target(connection: duckdb.DuckDBPyConnection, raw: _Raw, task: str) -> Column:
    if not raw.present:
        raise AuditError(f"target {raw.name!r} is missing in every row; correct `target` or the `missing` marks")
    if task == "classification":
        return Column("target", raw.name, "categorical", raw.text)
    _all_finite_numbers(connection, raw)
    return Column("target", raw.name, "numeric", raw.number)


def _all_finite_numbers(connection: duckdb.DuckDBPyConnection, raw: _Raw) -> None:
    if raw.numbers < raw.present:
        row = first_row(connection, f"{raw.text} IS NOT NULL AND ({raw.number}) IS NULL")
        raise AuditError(
            f"column {raw.name!r} must be numeric, but data row {row} holds no number; correct it or `types`"
        )
    if raw.infinite:
        row = first_row(connection, f"isinf({raw.number})")
        raise AuditError(
            f"column {raw.name!r} has {raw.infinite} infinite values, the first in data row {row}; correct them, or "
            "`drop` the column"
        )
