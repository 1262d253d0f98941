"""Numbers of a private table's texts, each cell read by itself.

An audit finds the notation of a column in all of its cells (data.column_readings). The reading of a private cell must
not depend on another one, so that here only the declared decimal sign counts, and what it does not allow is no number.
"""

from collections.abc import Iterable, Sequence

from duckdb import DuckDBPyConnection

from memaudit.common.cell_notations import SEPARATORS
from memaudit.common.errors import AuditError
from memaudit.data.cell_shapes import BLANKS, normalised, number
from memaudit.data.column_schema import cleaned
from memaudit.data.duckdb_engine import literal

# A blank, a no-break, a thin and a figure space may group thousands; tabs, line ends and other blanks do not.
NO_GROUPING = "".join(sign for sign in BLANKS if sign not in "\u00a0\u2007\u2009\u202f")


def described(decimal: str | None) -> str:
    """How numbers are read, for their owner; decimal: the declared sign, None for the notation of SQL."""
    return {None: "decimal point", ".": "decimal point, as declared", ",": "decimal comma, as declared"}[decimal]


def read_numbers(
    connection: DuckDBPyConnection, names: Iterable[str], decimal: str | None, missing: Sequence[str]
) -> dict[str, str]:
    """SQL of the number of each column of texts of the relation `file`, NULL where it is missing.

    decimal: the declared sign, None for the notation of SQL; missing: texts that mean a missing value. Raises
    AuditError, naming column and data row but never a value, for a cell that is no number.
    """
    values = {}
    for name in names:
        text = cleaned(name, missing)
        values[name] = _declared(text, decimal) if decimal else number(text)
        query = f"SELECT min(file_row_number) + 1 FROM file WHERE ({text}) IS NOT NULL AND ({values[name]}) IS NULL"
        (row,) = connection.execute(query).fetchone()
        if row is not None:
            raise AuditError(f"column {name!r} must be numeric, but data row {row} holds no number{_remedy(decimal)}")
    return values


def _declared(text: str, decimal: str) -> str:
    """SQL of a text's number with a decimal sign; thousands may be grouped by blanks, apostrophes or the other sign."""
    (other,) = (sign for sign in SEPARATORS if sign != decimal)
    # "0.123" has no group of thousands, so that with a decimal comma it is no number.
    grouped = "|".join(f"[1-9][0-9]{{0,2}}([{sign}][0-9]{{3}})+" for sign in (other, " ", "'"))
    form = f"[-+]?(([0-9]+|{grouped})([{decimal}][0-9]*)?|[{decimal}][0-9]+)([eE][-+]?[0-9]{{1,3}})?"
    cell = normalised(text)
    plain = f"replace(regexp_replace({cell}, '[^0-9{decimal}eE+-]', '', 'g'), '{decimal}', '.')"
    # The cell as it is, since all kinds of blanks are one in a normalised one.
    broken = f"regexp_matches(trim({text}, {literal(BLANKS + ' ')}), {literal(f'[{NO_GROUPING}]')})"
    return f"CASE WHEN regexp_full_match({cell}, {literal(form)}) AND NOT {broken} THEN try_cast({plain} AS DOUBLE) END"


def _remedy(decimal: str | None) -> str:
    if decimal is None:
        return '; correct it, or declare `decimal: ","` (decimal commas) or `decimal: "."` in the entry of the table'
    return f" with the declared `decimal: {decimal}`; a release reads each cell by itself: write it like the others"
