"""What a column of texts is called that no category is made of."""

import duckdb
import pytest

from memaudit.data.text_columns import FREE_TEXT, TOO_MANY_CODES, reason, reasons


@pytest.mark.parametrize(
    ("facts", "why"),
    [
        ((100, 100, 8.0, 0), "an identifier: hardly any value repeats"),
        ((100, 90, 8.0, 0), "an identifier: hardly any value repeats"),
        ((100, 89, 8.0, 0), "too many categories (89)"),
        ((100, 50, 12.0, 100), "too many categories (50)"),
        ((100, 100, 8.0, 3), FREE_TEXT),  # words with blanks that do not repeat
        ((100, 100, 80.0, 0), FREE_TEXT),
        ((100, 50, 80.0, 100), FREE_TEXT),
        ((0, 0, None, 0), FREE_TEXT),
    ],
)
def test_counts_decide(facts, why):
    assert reason(*facts) == why


def test_columns_are_read_in_parts_and_codes_are_named():
    texts = {f"c{place}": "a" for place in range(300)} | {"code": "a"}
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE raw AS SELECT 'K' || range AS a FROM range(50)")
        found = reasons(connection, "raw", texts, ["code"])
    assert found.pop("code") == TOO_MANY_CODES
    assert list(found) == [f"c{place}" for place in range(300)]
    assert set(found.values()) == {"an identifier: hardly any value repeats"}


def test_without_columns_nothing_is_read():
    with duckdb.connect() as connection:
        assert reasons(connection, "raw", {}, []) == {}
