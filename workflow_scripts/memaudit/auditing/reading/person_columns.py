"""The person or household that rows belong to: rows without one, and columns that look like one where none is named."""

import re
from collections.abc import Collection, Iterable

from duckdb import DuckDBPyConnection

from memaudit.auditing.reading.request import Request
from memaudit.common.errors import AuditError
from memaudit.data.column_schema import cleaned, first_row

WORDS = re.compile(
    r"(?<![a-z])(owner|customer|client|patient|person|user|member|employee|student|household|subject|respondent|"
    r"applicant|policyholder|borrower|donor|family|e-?mail)(?![a-z])"
)
FEWEST_ROWS, MOST_ROWS = 1.1, 50.0  # of a person, in the mean


def lone_rows(connection: DuckDBPyConnection, request: Request, marks: Collection[str]) -> int:
    """Number of rows of the view `raw` without a privacy unit.

    Raises AuditError for one that is not requested to be a unit of its own.
    """
    if not request.group:
        return 0
    without = f"({cleaned(request.group, marks)}) IS NULL"
    if not request.lone_rows and (row := first_row(connection, without)) is not None:
        raise AuditError(
            f"--group {request.group!r}: missing in data row {row}; every row needs a person or household, or give "
            "--lone-rows: a row without one is a person of its own"
        )
    return int(connection.execute(f"SELECT count(*) FROM raw WHERE {without}").fetchone()[0])


def persons(connection: DuckDBPyConnection, names: Iterable[str], marks: Collection[str]) -> dict[str, int]:
    """Number of values of each column of the view `raw` that looks like a person with several rows.

    It does if its name has a word for one, and its values repeat, but each in few rows: a category has many. marks:
    words that mean a missing value.
    """
    found = {}
    for name in (name for name in names if WORDS.search(_words(name))):
        text = cleaned(name, marks)
        rows, distinct = connection.execute(f"SELECT count({text}), count(DISTINCT {text}) FROM raw").fetchone()
        if distinct > 1 and FEWEST_ROWS <= rows / distinct <= MOST_ROWS and distinct > MOST_ROWS:
            found[name] = distinct
    return found


def _words(name: str) -> str:
    """The name in small letters, with the parts of camelCase and snake_case as words."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).replace("_", " ").lower()
