"""The view `raw` of a user's table, in which numbers and dates are in the notation of SQL, and what was changed.

Audits, studies and `memaudit init` read tables by these functions, so that a column means the same in all of them.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from duckdb import DuckDBPyConnection

from memaudit.common.errors import AuditError
from memaudit.common.screen_lines import alike
from memaudit.data import text_columns
from memaudit.data.column_readings import CODES, DATE, NUMERIC, Choices, Reading, read_columns
from memaudit.data.column_schema import COLUMNS_PER_QUERY, Column, Roles, check_roles, cleaned, infer
from memaudit.data.duckdb_engine import identifier, literal, parquet

CLASSIFICATION, REGRESSION = "classification", "regression"
FEW = 10  # numbers of at most so many different values are codes of classes, unless the user says otherwise
TEXTS = ("VARCHAR", "ENUM")
ZONED = "TIMESTAMP WITH TIME ZONE"
DATES = ("DATE", "TIMESTAMP")
TYPED = (*DATES, "DECIMAL")  # Parquet types that are recorded
NUMBERS_ROWS = "numbers the rows"
DAYS = "days since 1970-01-01"


@dataclass(frozen=True)
class TableReadings:
    """How the columns are read.

    codes: type of each column of codes; remarks: by column, for readers; task: of the target, None if values decide.
    """

    codes: Mapping[str, str]
    remarks: Mapping[str, str]
    task: str | None


class ReadTable(NamedTuple):
    """features, target: of the view `raw`; left_out, texts: reason by column that no model, or few, are to read.

    remarks: by column, for readers; task: of the target, None if its values decide.
    """

    features: list[Column]
    target: Column
    left_out: dict[str, str]
    texts: dict[str, str]
    remarks: Mapping[str, str]
    task: str | None


def read_features(
    connection: DuckDBPyConnection, raw: Path, roles: Roles, choices: Choices, task: str | None
) -> ReadTable:
    """Create the view `raw` of a user's table, and return its columns without those that number the rows.

    task: None if the target's values decide; the SQL of `target` is that of roles.task in any case.
    Texts that are no categories are among the features, since some models read them. Raises AuditError, see
    `read_columns` and `infer`.
    """
    readings = read_table(connection, raw, roles, choices, task)
    found, target = infer(connection, replace(roles, types=dict(readings.codes) | dict(roles.types)))
    detected = [column for column in found if column.source not in roles.types]
    left_out = numbering_rows(connection, detected)
    features = [column for column in found if column.source not in left_out]
    if not features:
        raise AuditError(f"no features are left: {alike(left_out)[0]}; a type of a column under `types` keeps it")
    texts = {column.source: column.value for column in detected if column.type == "text"}
    why = text_columns.reasons(connection, "raw", texts, readings.codes)
    return ReadTable(features, target, left_out, why, readings.remarks, readings.task)


def read_table(
    connection: DuckDBPyConnection, raw: Path, roles: Roles, choices: Choices, task: str | None
) -> TableReadings:
    """Create the view `raw` and return how its columns are read.

    raw: the table as it is in the file; roles: of the columns; task: None if the target's values decide. Raises
    AuditError, see `read_columns`.
    """
    table = parquet(raw)
    query = f"DESCRIBE SELECT * EXCLUDE (file_row_number) FROM {table}"
    natives = {name: kind for name, kind, *_ in connection.execute(query).fetchall()}
    check_roles(natives, roles)
    name, others = roles.target, (roles.target, roles.group, *roles.drop)
    names = [name for name in natives if name not in others]
    texts = {name: cleaned(name, roles.missing) for name in names if natives[name].startswith(TEXTS)}
    target = cleaned(name, roles.missing)
    number = _may_be_number(connection, table, target, task)
    if number and natives[name].startswith(TEXTS):
        texts[name] = target
    types = dict(choices.types) | ({name: NUMERIC} if task == REGRESSION else {})
    readings = dict(read_columns(connection, table, texts, replace(choices, types=types, target=name)))
    # A type that was named needs no remark, unless the cells are changed.
    typed = [name for name in names if natives[name].startswith(TYPED)]
    typed = [name for name in typed if name not in choices.types or natives[name] == ZONED]
    readings |= {name: _of_native(name, natives[name]) for name in typed}
    values = {name: one.value for name, one in readings.items() if one.value}
    remarks = {name: one.remark for name, one in readings.items() if one.remark}
    one = readings.get(name, Reading())
    if number and (one.kind == DATE or natives[name].startswith(DATES)):
        values[name] = _days(f"try_cast({one.value or target} AS TIMESTAMP)" if one.kind == DATE else identifier(name))
        remarks[name] = "; ".join(filter(None, [one.remark, DAYS]))
    _view(connection, raw, values)
    codes = {name: code_type(connection, texts[name]) for name in names if readings.get(name, Reading()).kind == CODES}
    return TableReadings(codes, remarks, CLASSIFICATION if one.kind == CODES else task)


def numbering_rows(connection: DuckDBPyConnection, features: Iterable[Column]) -> dict[str, str]:
    """Columns of numbers of the view `raw` that only number its rows, with the reason why they are left out."""
    numbers = [column for column in features if column.type == "numeric"]
    found = {}
    for start in range(0, len(numbers), COLUMNS_PER_QUERY):
        part = {column.source: column.value for column in numbers[start : start + COLUMNS_PER_QUERY]}
        found |= numbering(connection, "raw", part)
    return found


def numbering(connection: DuckDBPyConnection, table: str, numbers: Mapping[str, str]) -> dict[str, str]:
    """Columns that only number the rows, with the reason; table: SQL of the relation; numbers: SQL by column, few."""
    counts = ", ".join(f"max({one}) - min({one}), count_if({one} <> floor({one}))" for one in numbers.values())
    rows, *found = connection.execute(f"SELECT count(*){', ' if counts else ''}{counts} FROM {table}").fetchone()
    spreads = zip(numbers.items(), found[::2], found[1::2], strict=True)
    whole = {name: one for (name, one), spread, broken in spreads if broken == 0 and spread == rows - 1}
    distinct = {
        name: connection.execute(f"SELECT count(DISTINCT {one}) FROM {table}").fetchone()[0]
        for name, one in whole.items()
    }
    return {name: NUMBERS_ROWS for name, count in distinct.items() if count == rows}


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
    """Create the view `raw`, of a scratch copy of the table if columns are changed: each is read several times."""
    table = parquet(raw)
    if values:
        changed = ", ".join(f"{value} AS {identifier(name)}" for name, value in values.items())
        folder = connection.execute("SELECT current_setting('temp_directory')").fetchone()[0]
        copy, source = Path(folder, "read.parquet"), f"read_parquet({literal(raw)})"
        connection.execute(f"COPY (SELECT * REPLACE ({changed}) FROM {source}) TO {literal(copy)} (FORMAT parquet)")
        table = parquet(copy)
    connection.execute(f"CREATE VIEW raw AS SELECT * FROM {table}")
