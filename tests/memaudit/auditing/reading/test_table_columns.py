"""The target as classes or as a number."""

import duckdb
import numpy as np
import pandas as pd
import pytest

from memaudit.auditing.reading.table_columns import rare_classes, read_target
from memaudit.common.cell_notations import MISSING
from memaudit.common.errors import AuditError

ROWS = 40


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
    target = read_target(connection, "churn", MISSING)
    assert target[1:4] == ("classification", "2 classes", 2)
    assert classes(connection, target.expression) == ["no", "yes"] * 20


def test_many_different_numbers_are_numbers():
    connection = view(churn=[*range(ROWS - 1), None])
    target = read_target(connection, "churn", MISSING)
    assert target[1:4] == ("regression", "a number, predicted by regression", 0)
    assert classes(connection, target.expression) == [*map(float, range(ROWS - 1)), None]


def test_codes_of_few_classes_are_classes_unless_the_user_says_otherwise():
    codes, many = view(churn=[i % 10 for i in range(ROWS)]), view(churn=[i % 11 for i in range(55)])
    assert read_target(codes, "churn", MISSING).kind == "classification"
    assert read_target(codes, "churn", MISSING, "regression").kind == "regression"
    assert read_target(many, "churn", MISSING).kind == "regression"
    assert read_target(many, "churn", MISSING, "classification").description == "11 classes"


def test_up_to_a_hundred_words_are_classes():
    assert read_target(view(churn=[f"k{i % 100}" for i in range(400)]), "churn", MISSING).classes == 100


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([*range(ROWS - 1), "many"], "data row 40 holds no number"),
        ([*range(ROWS - 1), "inf"], "data row 40 holds a number beyond"),
        ([*range(ROWS - 1), "1e39"], "data row 40 holds a number beyond"),
        (["1", "1.0"] * 20, "the same number in all rows"),
    ],
)
def test_a_target_that_is_no_number_is_refused(values, message):
    with pytest.raises(AuditError, match=message):
        read_target(view(churn=values), "churn", MISSING, "regression")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([None] * ROWS, "missing in every row"),
        (["a"] * ROWS, "the same in all rows"),
        (
            ["a"] * (ROWS - 3) + ["b"] * 3,
            r"1 of 2 classes has fewer than the 4 rows .*, the smallest 3 rows \(the class of data row 38\)",
        ),
        ([f"x{i}" for i in range(101)], "101 classes, an audit takes at most 100"),
    ],
)
def test_a_target_without_classes_is_refused(values, message):
    with pytest.raises(AuditError, match=message):
        read_target(view(churn=values), "churn", MISSING)


def test_rare_classes_are_merged_on_request_and_said_so():
    labels = ["yes"] * 20 + ["no"] * 15 + ["a"] * 3 + ["it's"] * 2 + [None]
    target = read_target(view(churn=labels), "churn", MISSING, merge_rare=True)
    assert target.classes == 3
    assert target.description == "3 classes, one of them 2 rare ones together (5 rows)"
    assert dict(target.rare) == {"a": 3, "it's": 2}
    connection = view(churn=labels)
    merged = classes(connection, read_target(connection, "churn", MISSING, merge_rare=True).expression)
    assert merged == ["yes"] * 20 + ["no"] * 15 + ["other classes"] * 5 + [None]


def test_rare_classes_of_too_few_rows_together_are_left_out_and_no_other_class_is_changed():
    connection = view(churn=["yes"] * 200 + ["no"] * 41 + ["rare"] * 3)
    target = read_target(connection, "churn", MISSING, merge_rare=True)
    assert classes(connection, target.expression) == ["yes"] * 200 + ["no"] * 41 + [None] * 3
    assert target.description == "2 classes; 3 rows of rare ones, too few for a class, are left out"
    assert (target.classes, dict(target.rare)) == (2, {"rare": 3})
    with pytest.raises(AuditError, match="1 classes have 4 rows or more, and all others together 2"):
        read_target(view(churn=["yes"] * 50 + ["a", "b"]), "churn", MISSING, merge_rare=True)


def test_names_of_rare_classes_are_values_of_the_table():
    rare = {"a": 3, "b": 2} | {f"k{i}": 1 for i in range(25)}
    assert rare_classes({"a": 3, "b": 2}, show_values=True) == "'a' (3 rows), 'b' (2 rows)"
    assert rare_classes({"a": 3}, show_values=False) == "3 rows (the setting show-values shows their names)"
    assert rare_classes(rare, show_values=True).endswith("'k17' (1 rows), 7 more")


def test_of_too_many_classes_the_most_frequent_are_kept_and_without_rare_ones_nothing_changes():
    many = [f"k{i % 150:03d}" for i in range(600)] + ["k140"] * 5
    target = read_target(view(churn=many), "churn", MISSING, merge_rare=True)
    assert (target.classes, target.description) == (100, "100 classes, one of them 51 rare ones together (204 rows)")
    hundred = read_target(view(churn=[f"k{i % 100}" for i in range(400)]), "churn", MISSING, merge_rare=True)
    assert (hundred.classes, dict(hundred.rare)) == (100, {})
    assert read_target(view(churn=["no", "yes"] * 20), "churn", MISSING, merge_rare=True).description == "2 classes"
