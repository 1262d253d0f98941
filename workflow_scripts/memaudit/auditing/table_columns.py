"""Types of the columns of a user's table, and the target as classes."""

from collections.abc import Collection, Mapping
from typing import Any

from duckdb import DuckDBPyConnection

from memaudit.auditing.request import Request
from memaudit.common.errors import AuditError
from memaudit.data.column_schema import MISSING, Column, Reading, cleaned, infer
from memaudit.data.duckdb_engine import literal

MOST_CLASSES = 10  # of the shipped model and of TabPFN
QUARTERS = (0.25, 0.5, 0.75)
FEWEST_OF_CLASS = 4


def typed(
    connection: DuckDBPyConnection,
    request: Request,
    origin: Mapping[str, Any],
    drop: Collection[str],
    types: Mapping[str, str],
) -> list[Column]:
    """Feature columns of the view `raw`, without the dropped ones.

    types: by column, as given by the user; the types of other columns are detected. Raises AuditError.
    """
    reading = Reading(
        task="classification",
        target=request.target,
        types=dict(origin["types"]) | {name: kind for name, kind in types.items() if name not in drop},
        drop=[name for name in drop if name not in (request.target, request.group)],
        missing=(*MISSING, *request.missing),
        group=request.group,
        typed=origin["typed"],
    )
    return infer(connection, reading)[0]


def read_target(connection: DuckDBPyConnection, name: str, marks: Collection[str]) -> tuple[str, str]:
    """SQL of the target as classes, and a description of these classes.

    More than ten different numbers are cut at their quartiles, because the attacks need classes. Raises AuditError for
    a target without classes.
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
    if distinct <= MOST_CLASSES:
        fewest = connection.execute(
            f"SELECT min(n) FROM (SELECT count(*) AS n FROM raw WHERE ({text}) IS NOT NULL GROUP BY {text})"
        ).fetchone()[0]
        if fewest < FEWEST_OF_CLASS:
            raise AuditError(
                f"{where}: a class has {fewest} rows, at least {FEWEST_OF_CLASS} are needed; merge classes"
            )
        return text, f"{distinct} classes"
    if numbers < values:
        raise AuditError(f"{where}: {distinct} classes, the models support at most {MOST_CLASSES}; merge rare ones")
    levels = ", ".join(map(str, QUARTERS))
    (cuts,) = connection.execute(f"SELECT quantile_disc({number}, [{levels}]) FROM raw").fetchone()
    cuts = sorted(set(cuts))
    cases = " ".join(
        f"WHEN {number} <= {literal(repr(cut))}::DOUBLE THEN {literal(f'part {place}')}"
        for place, cut in enumerate(cuts, 1)
    )
    rest = f"CASE WHEN {number} IS NULL THEN NULL {cases} ELSE {literal(f'part {len(cuts) + 1}')} END"
    parts = connection.execute(f"SELECT count(DISTINCT {rest}) FROM raw").fetchone()[0]
    if parts < 2:
        raise AuditError(f"{where}: nearly the same in all rows, so nothing can be attacked; name another column")
    return rest, f"a number, cut at its quartiles into {parts} classes"
