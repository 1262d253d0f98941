"""Probability columns: their naming, their classes, and numbers that are no probabilities."""

import numpy as np
import pandas as pd
import pytest

from memaudit.auditing.reading.class_columns import ClassColumns, class_columns, class_name, labels, probabilities
from memaudit.common.errors import AuditError

FOUND = ClassColumns(["p_a", "p_b"], ["a", "b"])


@pytest.mark.parametrize(
    ("columns", "targets", "found"),
    [
        (["x", "p_a", "p_b"], ["a", "b"], ["p_a", "p_b"]),
        (["x", "probability_a", "probability_b", "p_value"], ["a", "b"], ["probability_a", "probability_b"]),
        (["x", "a", "b"], ["b", "a"], ["a", "b"]),
        (["x", "p_0", "p_1"], ["0.0", "1.0"], ["p_0", "p_1"]),
        # A class that does not occur has a column, too.
        (["x", "p_a", "p_b", "p_c"], ["a", "b"], ["p_a", "p_b", "p_c"]),
    ],
)
def test_columns_are_named_by_their_class(columns, targets, found):
    assert class_columns(columns, targets).columns == found


def test_numbers_as_classes_are_compared_by_value():
    assert [class_name(text) for text in (" 1.0", "1", "1.5", "v1.0")] == ["1", "1", "1.5", "v1.0"]


@pytest.mark.parametrize(
    ("columns", "message"),
    [(["x", "y"], "no columns of probabilities"), (["p_1", "p_1.0", "p_2"], "two columns hold the probability of one")],
)
def test_missing_and_repeated_columns_are_refused(columns, message):
    with pytest.raises(AuditError, match=message):
        class_columns(columns, ["1", "2"])


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        ("0.5", "-0.1", "m.csv, column 'p_b': data row 2 holds a number outside"),
        ("40", "60", "column 'p_a': data row 2 holds a number outside .*, or percent with the sign %"),
        ("no", "0.5", "column 'p_a': data row 2 holds no number"),
        (None, "0.5", "column 'p_a': data row 2 holds no number"),
        ("0.5", "0.4", "m.csv: data row 2 has 2 probabilities that do not sum to 1 within 0.01"),
    ],
)
def test_what_is_no_probability_is_refused(a, b, message):
    with pytest.raises(AuditError, match=message):
        probabilities(pd.DataFrame({"p_a": ["0.5", a], "p_b": ["0.5", b]}), FOUND, "m.csv")


def test_rounded_probabilities_are_accepted():
    values = probabilities(pd.DataFrame({"p_a": ["0.33", "1"], "p_b": ["0.66", "0"]}), FOUND, "m.csv")
    assert values == pytest.approx(np.array([[0.33, 0.66], [1, 0]]))


def test_columns_of_percent_are_hundredths():
    frame = pd.DataFrame({"p_a": [25.0, 100.0], "p_b": [0.75, 0.0]})
    assert probabilities(frame, FOUND, "m.csv", ["p_a"]) == pytest.approx(np.array([[0.25, 0.75], [1, 0]]))


def test_labels_are_places_among_the_columns():
    assert list(labels(pd.Series(["b", "a"]), FOUND, "m.csv")) == [1, 0]
    for wrong, message in (("c", "none of the classes"), (None, "has no target")):
        with pytest.raises(AuditError, match=f"m.csv: data row 2 has .*{message.removeprefix('has ')}"):
            labels(pd.Series(["b", wrong]), FOUND, "m.csv")
