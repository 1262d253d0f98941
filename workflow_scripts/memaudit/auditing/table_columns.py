"""The target of a user's table as classes or as a number."""

from collections.abc import Collection
from typing import NamedTuple

from duckdb import DuckDBPyConnection

from memaudit.auditing.typed_slices import LARGEST
from memaudit.common.errors import AuditError
from memaudit.data.column_schema import cleaned, first_row
from memaudit.data.table_readings import CLASSIFICATION, FEW, REGRESSION

MOST_CLASSES = 100  # two levels of a model that takes ten
FEWEST_OF_CLASS = 4
MERGED = "other classes"


class Target(NamedTuple):
    """SQL of the target, the task (classification or regression), and how the target is read, for readers."""

    expression: str
    kind: str
    description: str
    classes: int  # 0 for a number


def read_target(
    connection: DuckDBPyConnection,
    name: str,
    marks: Collection[str],
    task: str | None = None,
    merge_rare: bool = False,
) -> Target:
    """The target as classes, or as a number.

    task: classification or regression, as the user says; None: numbers of more than ten different values are
    predicted as numbers, all else as classes. merge_rare: classes of too few rows are one class, `MERGED`. Raises
    AuditError for a target that the task cannot have.
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
    if merge_rare and (kept := _frequent(connection, text)) < distinct:
        merged = (
            f"CASE WHEN ({text}) IN (FROM frequent_classes) THEN {text} WHEN ({text}) IS NOT NULL THEN '{MERGED}' END"
        )
        read = _classes(connection, merged, where, kept + 1)
        return read._replace(description=f"{read.description}, one of them {distinct - kept} rare ones together")
    return _classes(connection, text, where, distinct)


def _frequent(connection: DuckDBPyConnection, text: str) -> int:
    """Create the table `frequent_classes` of those that stay classes of their own; returns their number.

    The rest together have as many rows as a class needs: the rarest of the frequent ones join them until they do.
    """
    counts = connection.execute(
        f"SELECT {text} AS class, count(*) AS n FROM raw WHERE ({text}) IS NOT NULL "
        "GROUP BY class ORDER BY n DESC, class"
    ).fetchall()
    kept = [name for name, rows in counts if rows >= FEWEST_OF_CLASS][: MOST_CLASSES - 1]
    if len(kept) == len(counts):
        return len(kept)
    while sum(rows for _, rows in counts[len(kept) :]) < FEWEST_OF_CLASS:
        kept.pop()
    connection.execute("CREATE OR REPLACE TEMP TABLE frequent_classes (class VARCHAR)")
    connection.executemany("INSERT INTO frequent_classes VALUES (?)", [[name] for name in kept])
    return len(kept)


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
    fewest = connection.execute(
        f"SELECT min(n) FROM (SELECT count(*) AS n FROM raw WHERE ({text}) IS NOT NULL GROUP BY {text})"
    ).fetchone()[0]
    if fewest < FEWEST_OF_CLASS:
        raise AuditError(
            f"{where}: {distinct} classes, and a class has {fewest} rows, at least {FEWEST_OF_CLASS} are "
            "needed; merge classes (--merge-rare makes one class of such)"
        )
    return Target(text, CLASSIFICATION, f"{distinct} classes", distinct)
