"""Why most models leave out a column of texts: one place decides between identifiers, categories and free text."""

from collections.abc import Collection, Mapping

from duckdb import DuckDBPyConnection

from memaudit.data.column_schema import COLUMNS_PER_QUERY

FREE_TEXT, TOO_MANY_CODES = "free text", "codes of too many values"
UNIQUE = 0.9  # different values of an identifier, at least, as a share of its rows
SHORT = 40.0  # characters of an identifier's or a category's value, at most, in the mean
COUNTS = ("count({0})", "count(DISTINCT {0})", "avg(length({0}))", r"count_if(regexp_matches({0}, '\s'))")


def reasons(
    connection: DuckDBPyConnection, table: str, texts: Mapping[str, str], codes: Collection[str]
) -> dict[str, str]:
    """The reason by column of texts that are no categories.

    table: SQL of the relation; texts: SQL of the text by column; codes: columns of texts such as 00123.
    """
    found, names = {}, list(texts)
    for start in range(0, len(names), COLUMNS_PER_QUERY):
        part = names[start : start + COLUMNS_PER_QUERY]
        counts = ", ".join(count.format(texts[name]) for name in part for count in COUNTS)
        values = connection.execute(f"SELECT {counts} FROM {table}").fetchone()
        of_each = (values[len(COUNTS) * place : len(COUNTS) * (place + 1)] for place in range(len(part)))
        found |= {name: reason(*facts) for name, facts in zip(part, of_each, strict=True)}
    return found | {name: TOO_MANY_CODES for name in names if name in codes}


def reason(rows: int, distinct: int, length: float | None, blanks: int) -> str:
    """The reason for a column; rows: with a value; distinct: values; length: their mean; blanks: rows with a blank.

    Words of an identifier have no blanks and hardly repeat; names of categories are short and repeat.
    """
    unique = distinct >= UNIQUE * rows
    if not rows or length > SHORT or (unique and blanks):
        return FREE_TEXT
    return "an identifier: hardly any value repeats" if unique else f"too many categories ({distinct})"
