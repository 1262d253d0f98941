"""The target of a user's table as classes or as a number."""

from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import NamedTuple

from duckdb import DuckDBPyConnection

from memaudit.auditing.reading.typed_slices import LARGEST
from memaudit.common.errors import AuditError
from memaudit.data.column_schema import cleaned, first_row
from memaudit.data.table_readings import CLASSIFICATION, FEW, REGRESSION

MOST_CLASSES = 100  # two levels of a model that takes ten
FEWEST_OF_CLASS = 4
MERGED = "other classes"
MOST_NAMED = 20  # rare classes that are named one by one


class Target(NamedTuple):
    """SQL of the target, the task (classification or regression), and how the target is read, for readers.

    rare: rows by name of the classes that are merged, or left out where they are too few rows together.
    """

    expression: str
    kind: str
    description: str
    classes: int  # 0 for a number
    rare: Mapping[str, int] = MappingProxyType({})


def read_target(
    connection: DuckDBPyConnection,
    name: str,
    marks: Collection[str],
    task: str | None = None,
    merge_rare: bool = False,
) -> Target:
    """The target as classes, or as a number.

    task: classification or regression, as the user says; None: numbers of more than ten different values are
    predicted as numbers, all else as classes. merge_rare: classes of too few rows are one class, `MERGED`; if they have
    too few rows together, too, these have no target. Raises AuditError for a target that the task cannot have.
    """
    text = cleaned(name, marks)
    number = f"try_cast({text} AS DOUBLE)"
    values, distinct, numbers = connection.execute(
        f"SELECT count({text}), count(DISTINCT {text}), count({number}) FROM raw"
    ).fetchone()
    where = f"--target {name!r}"
    if not values:
        raise AuditError(f"{where}: missing in every row; name another column, or correct --missing")
    if distinct < 2:
        raise AuditError(f"{where}: the same in all rows, so nothing can be learnt or attacked; name another column")
    if task == REGRESSION or (task is None and numbers == values and distinct > FEW):
        return _number(connection, text, number, where)
    if merge_rare:
        return _merged(connection, text, where)
    return _classes(connection, text, where, distinct)


def _merged(connection: DuckDBPyConnection, text: str, where: str) -> Target:
    """The target with its rare classes as one, or without a class if they are too few rows together."""
    counts = connection.execute(
        f"SELECT {text} AS class, count(*) AS n FROM raw WHERE ({text}) IS NOT NULL "
        "GROUP BY class ORDER BY n DESC, class"
    ).fetchall()
    kept = [name for name, rows in counts if rows >= FEWEST_OF_CLASS]
    if len(counts) > MOST_CLASSES:
        kept = kept[: MOST_CLASSES - 1]
    rare = dict(counts[len(kept) :])
    if not rare:
        return _classes(connection, text, where, len(counts))
    rows = sum(rare.values())
    together = rows >= FEWEST_OF_CLASS
    if len(kept) + together < 2:
        raise AuditError(
            f"{where}: {len(kept)} classes have {FEWEST_OF_CLASS} rows or more, and all others together {rows}, so "
            "nothing can be learnt; name another column"
        )
    connection.execute("CREATE OR REPLACE TEMP TABLE frequent_classes (class VARCHAR)")
    connection.executemany("INSERT INTO frequent_classes VALUES (?)", [[name] for name in kept])
    other = f" WHEN ({text}) IS NOT NULL THEN '{MERGED}'" if together else ""
    sql = f"CASE WHEN ({text}) IN (FROM frequent_classes) THEN {text}{other} END"
    read = _classes(connection, sql, where, len(kept) + together)
    note = f", one of them {len(rare)} rare ones together ({rows} rows)"
    if not together:
        note = f"; {rows} rows of rare ones, too few for a class, are left out"
    return read._replace(description=read.description + note, rare=rare)


def _number(connection: DuckDBPyConnection, text: str, number: str, where: str) -> Target:
    """Raises AuditError for words, and for numbers that are infinite in single precision or all the same."""
    if (row := first_row(connection, f"({text}) IS NOT NULL AND {number} IS NULL")) is not None:
        raise AuditError(
            f"{where}: data row {row} holds no number, which --task regression needs; correct it, or name the "
            "word with --missing"
        )
    if (row := first_row(connection, f"NOT coalesce(abs({number}) <= {LARGEST}, true)")) is not None:
        raise AuditError(f"{where}: data row {row} holds a number beyond {LARGEST:g}, which no model can read")
    if connection.execute(f"SELECT count(DISTINCT {number}) FROM raw").fetchone()[0] < 2:
        raise AuditError(f"{where}: the same number in all rows, so nothing can be learnt; name another column")
    return Target(number, REGRESSION, "a number, predicted by regression", 0)


def _classes(connection: DuckDBPyConnection, text: str, where: str, distinct: int) -> Target:
    """Raises AuditError for more classes than are audited, and for a class of too few rows."""
    if distinct > MOST_CLASSES:
        raise AuditError(
            f"{where}: {distinct} classes, an audit takes at most {MOST_CLASSES}; merge rare ones (--merge-rare), or, "
            "if the target is a number, give --task regression"
        )
    counts = (
        f"SELECT count(*) AS n, min(file_row_number) + 1 AS row FROM raw WHERE ({text}) IS NOT NULL GROUP BY {text}"
    )
    rare, fewest, row = connection.execute(
        f"SELECT count(*), min(n), arg_min(row, (n, row)) FROM ({counts}) WHERE n < {FEWEST_OF_CLASS}"
    ).fetchone()
    if rare:
        rows = "1 row" if fewest == 1 else f"{fewest} rows"
        raise AuditError(
            f"{where}: {rare} of {distinct} classes {'has' if rare == 1 else 'have'} fewer than the {FEWEST_OF_CLASS} "
            f"rows that are needed, the smallest {rows} (the class of data row {row}); merge classes (--merge-rare "
            "makes one class of such)"
        )
    return Target(text, CLASSIFICATION, f"{distinct} classes", distinct)


def rare_classes(rare: Mapping[str, int], show_values: bool) -> str:
    """Rare classes for readers, the largest first: with their names, or numbers of rows alone."""
    named = [f"{name!r} ({rows} rows)" if show_values else f"{rows} rows" for name, rows in rare.items()]
    more = [f"{len(named) - MOST_NAMED} more"] if len(named) > MOST_NAMED else []
    return ", ".join(named[:MOST_NAMED] + more) + (
        "" if show_values else " (the setting show-values shows their names)"
    )
