"""The view `raw` of a user's table, in which numbers and dates are in the notation of SQL, and what was changed."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from duckdb import DuckDBPyConnection

from memaudit.auditing.column_readings import CODES, DATE, NUMERIC, Choices, Reading, read_columns
from memaudit.auditing.request import Request
from memaudit.auditing.table_columns import CLASSIFICATION, FEW, REGRESSION
from memaudit.data.column_schema import MISSING, cleaned
from memaudit.data.duckdb_engine import identifier, literal, parquet

TEXTS = ("VARCHAR", "ENUM")
ZONED = "TIMESTAMP WITH TIME ZONE"
DATES = ("DATE", "TIMESTAMP")
TYPED = (*DATES, "DECIMAL")  # Parquet types that are recorded
FREE_TEXT, TOO_MANY_CODES = "free text", "codes of too many values"  # why columns of texts are left out
DAYS = "days since 1970-01-01"


@dataclass(frozen=True)
class TableReadings:
    """How the columns are read.

    codes: type of each column of codes; remarks: by column, for readers; task: of the target, None if values decide.
    """

    codes: Mapping[str, str]
    remarks: Mapping[str, str]
    task: str | None


def read_table(
    connection: DuckDBPyConnection,
    raw: Path,
    request: Request,
    origin: Mapping[str, Any],
    delimiter: str | None,
    unused: Collection[str],
    types: Mapping[str, str],
    chosen: Mapping[str, Mapping[str, Any]],
) -> TableReadings:
    """Create the view `raw` and return how its columns are read.

    raw: the table as it is in the file; delimiter: of a CSV file; unused: columns left out; types: by column, as given
    by the user; chosen: the user's schema. Raises AuditError, see `read_columns`.
    """
    table = parquet(raw)
    natives = {name: kind for name, kind, *_ in connection.execute(f"DESCRIBE SELECT * FROM {table}").fetchall()}
    marks = (*MISSING, *request.missing)
    names = [name for name in origin["columns"] if name not in unused and name not in (request.group, request.target)]
    texts = {name: cleaned(name, marks) for name in names if natives[name].startswith(TEXTS)}
    target = cleaned(request.target, marks)
    number = _may_be_number(connection, table, target, request.task)
    if number and natives[request.target].startswith(TEXTS):
        texts[request.target] = target
    choices = _choices(request, types, chosen, comma_delimited=delimiter == ",", typed=origin["typed"])
    readings = dict(read_columns(connection, table, texts, choices))
    readings |= {name: _of_native(name, natives[name]) for name in names if natives[name].startswith(TYPED)}
    values = {name: one.value for name, one in readings.items() if one.value}
    remarks = {name: one.remark for name, one in readings.items() if one.remark}
    one = readings.get(request.target, Reading())
    if number and (one.kind == DATE or natives[request.target].startswith(DATES)):
        values[request.target] = _days(
            f"try_cast({one.value or target} AS TIMESTAMP)" if one.kind == DATE else identifier(request.target)
        )
        remarks[request.target] = "; ".join(filter(None, [one.remark, DAYS]))
    _view(connection, raw, values)
    codes = {name: code_type(connection, texts[name]) for name in names if readings.get(name, Reading()).kind == CODES}
    task = CLASSIFICATION if one.kind == CODES else request.task
    return TableReadings(codes, remarks, task)


def _choices(
    request: Request,
    types: Mapping[str, str],
    chosen: Mapping[str, Mapping[str, Any]],
    *,
    comma_delimited: bool,
    typed: bool,
) -> Choices:
    """What the user chose for all columns and for single ones."""
    return Choices(
        types=dict(types) | ({request.target: NUMERIC} if request.task == REGRESSION else {}),
        decimal=request.decimal,
        dates=request.dates,
        decimals={name: one["decimal"] for name, one in chosen.items() if one["decimal"]},
        orders={name: one["dates"] for name, one in chosen.items() if one["dates"]},
        comma_delimited=comma_delimited,
        typed=typed,
        target=request.target,
    )


def _of_native(name: str, kind: str) -> Reading:
    """How a column of a type of Parquet that is recorded is read."""
    if kind == ZONED:
        return Reading(value=f"make_timestamp(epoch_us({identifier(name)}))", remark="timestamp with time zone, in UTC")
    return Reading(remark=kind.lower())


def _days(time: str) -> str:
    """SQL of the text of days since 1970 of a time; its own cast to text would depend on the zone of this machine."""
    return f"CAST(epoch_us({time}) / 86400e6 AS VARCHAR)"


def _may_be_number(connection: DuckDBPyConnection, table: str, target: str, task: str | None) -> bool:
    """Whether the target is no class for certain: few different values are classes, however they are written."""
    if task is None:
        distinct = f"SELECT DISTINCT {target} AS value FROM {table} WHERE ({target}) IS NOT NULL LIMIT {FEW + 1}"
        return connection.execute(f"SELECT count(*) FROM ({distinct})").fetchone()[0] > FEW
    return task == REGRESSION


def code_type(connection: DuckDBPyConnection, text: str) -> str:
    """Categorical for codes of few different values, else text: as words are read (see `column_schema`)."""
    query = f"SELECT count(DISTINCT {text}), count(*) FROM raw"
    distinct, rows = connection.execute(query).fetchone()
    return "categorical" if distinct <= max(20, min(1000, rows // 20)) else "text"


def _view(connection: DuckDBPyConnection, raw: Path, values: Mapping[str, str]) -> None:
    """Create the view `raw`, of a copy of the table if columns are changed: each is read several times."""
    table = parquet(raw)
    if values:
        changed = ", ".join(f"{value} AS {identifier(name)}" for name, value in values.items())
        copy = raw.with_name("read.parquet")
        source = f"read_parquet({literal(raw)})"
        connection.execute(f"COPY (SELECT * REPLACE ({changed}) FROM {source}) TO {literal(copy)} (FORMAT parquet)")
        table = parquet(copy)
    connection.execute(f"CREATE VIEW raw AS SELECT * FROM {table}")
