"""A column that looks like a person is named, a category, a key or another word is not."""

import duckdb
import pandas as pd
import pytest

from memaudit.auditing.reading.person_columns import lone_rows, persons
from memaudit.auditing.reading.request import Request
from memaudit.common.cell_notations import MISSING
from memaudit.common.errors import AuditError

ROWS = 600


def view(**columns):
    connection = duckdb.connect()
    frame = pd.DataFrame(columns).astype("string")
    connection.register("raw", frame.assign(file_row_number=range(len(frame))))
    return connection


@pytest.mark.parametrize("name", ["owner", "customer_id", "PatientNo", "householdId", "E-Mail"])
def test_a_person_with_several_rows_is_named_with_the_number_of_values(name):
    assert persons(view(**{name: [i // 3 for i in range(ROWS)]}), [name], MISSING) == {name: 200}


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("user", range(ROWS)),  # a row each: no rows to link
        ("customer_type", [i % 3 for i in range(ROWS)]),  # a category
        ("ownership", [i // 3 for i in range(ROWS)]),  # another word
        ("town", [i // 3 for i in range(ROWS)]),
        ("member", [None] * ROWS),
    ],
)
def test_a_key_a_category_and_other_words_are_not(name, values):
    assert persons(view(**{name: list(values)}), [name], MISSING) == {}


def test_rows_without_a_person_are_counted_on_request_and_refused_else():
    connection = view(who=["a", None, "a", "n/a"])
    request = Request("t.csv", "y", group="who", lone_rows=True)
    assert lone_rows(connection, request, ("", "n/a")) == 2
    assert lone_rows(connection, Request("t.csv", "y"), ("", "n/a")) == 0
    with pytest.raises(AuditError, match=r"--group 'who': missing in data row 2; .*--lone-rows"):
        lone_rows(connection, Request("t.csv", "y", group="who"), ("", "n/a"))
