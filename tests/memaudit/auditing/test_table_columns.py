"""Types of columns, and the target as classes."""

import duckdb
import numpy as np
import pandas as pd
import pytest

from memaudit.auditing.request import Request
from memaudit.auditing.table_columns import read_target, typed
from memaudit.common.errors import AuditError
from memaudit.data.column_schema import MISSING

ROWS = 40
ORIGIN = {"types": {}, "typed": False}


def view(**columns):
    """A connection whose view `raw` holds the columns as text, as of a CSV file."""
    connection = duckdb.connect()
    frame = pd.DataFrame(columns).map(lambda cell: None if pd.isna(cell) else str(cell)).astype("string")
    frame["file_row_number"] = np.arange(len(frame))
    connection.register("frame", frame)
    connection.execute("CREATE VIEW raw AS SELECT * FROM frame")
    return connection


def classes(connection, expression):
    return [label for (label,) in connection.execute(f"SELECT {expression} FROM raw").fetchall()]


def test_few_different_values_are_the_classes():
    connection = view(churn=["no", "yes"] * 20)
    expression, task = read_target(connection, "churn", MISSING)
    assert task == "2 classes"
    assert classes(connection, expression) == ["no", "yes"] * 20


def test_many_different_numbers_are_cut_at_their_quartiles():
    connection = view(churn=[*range(ROWS - 1), None])
    expression, task = read_target(connection, "churn", MISSING)
    assert task == "a number, cut at its quartiles into 4 classes"
    assert classes(connection, expression)[::10] == ["part 1", "part 2", "part 3", "part 4"]
    assert classes(connection, expression)[-1] is None


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([None] * ROWS, "missing in every row"),
        (["a"] * ROWS, "the same in all rows"),
        (["a"] * (ROWS - 3) + ["b"] * 3, "a class has 3 rows"),
        ([f"x{i}" for i in range(ROWS)], "40 classes, the models support at most 10"),
    ],
)
def test_a_target_without_classes_is_refused(values, message):
    with pytest.raises(AuditError, match=message):
        read_target(view(churn=values), "churn", MISSING)


def test_types_of_the_user_replace_the_detected_ones():
    connection = view(number=range(7, 7 + ROWS), code=[i % 3 for i in range(ROWS)], churn=["a", "b"] * 20)
    request = Request("t.csv", "churn")
    features = typed(connection, request, ORIGIN, [], {"code": "categorical"})
    assert {column.source: column.type for column in features} == {"number": "numeric", "code": "categorical"}
    assert [column.source for column in typed(connection, request, ORIGIN, ["number"], {})] == ["code"]
