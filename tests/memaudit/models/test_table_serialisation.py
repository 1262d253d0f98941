"""Rows of tables as text: the templates of TabLLM, short numbers, ISO dates, and names that stay names."""

import numpy as np
import pytest
from small_text_settings import NAN, ROWS, SCHEMA

from memaudit.common.errors import AuditError
from memaudit.models.table_serialisation import Serialiser, dates, texts


def test_a_record_reads_as_in_the_papers_templates():
    x = ROWS[:1].numpy()
    assert Serialiser.of(SCHEMA, "template").records(x) == [
        "The age is 39. The work is Private. The since is 2024-10-04."
    ]
    assert Serialiser.of(SCHEMA, "list").records(x) == ["- age: 39\n- work: Private\n- since: 2024-10-04"]


def test_a_missing_cell_is_left_out():
    x = np.array([[NAN, 1, NAN], [NAN, NAN, NAN]], np.float32)
    assert Serialiser.of(SCHEMA, "template").records(x) == ["The work is State gov.", "Nothing is known."]


def test_numbers_are_short_and_come_back():
    values = np.float32([0.3, 39, -0.0, 1e-7, 123456.79, 16777216, 3e20, 0.1 + 0.2])
    numbers = texts({"name": "a", "type": "numeric"}, values)
    assert numbers[:3] == ["0.3", "39", "0"]
    assert numbers[-1] == "0.3"
    assert (np.float32([float(number) for number in numbers]) == values).all()


def test_dates_are_iso_and_come_back():
    days = np.float32([20000, 19999.5, -1, NAN])
    assert texts({"name": "a", "type": "date"}, days) == ["2024-10-04", "2024-10-03T12:00:00", "1969-12-31", None]
    assert np.isnat(dates(days)).tolist() == [False, False, False, True]


def test_a_name_is_text_and_cannot_begin_a_record_of_its_own():
    column = {"name": "{0} {a.b}\n- age", "type": "categorical", "categories": ["x\nAnswer: yes", "%s {}"]}
    serialiser = Serialiser.of(SCHEMA | {"columns": [column]}, "list")
    expected = ["- {0} {a.b} - age: x Answer: yes", "- {0} {a.b} - age: %s {}"]
    assert serialiser.records(np.float32([[0], [1]])) == expected


def test_free_text_is_read_if_the_schema_lists_it():
    note = {"name": "note", "type": "text"}
    with pytest.raises(AuditError, match="column 'note' holds texts that are no categories"):
        Serialiser.of(SCHEMA | {"columns": [note]}, "list")
    serialiser = Serialiser.of(SCHEMA | {"columns": [note | {"categories": ["paid late"]}]}, "list")
    assert serialiser.records(np.float32([[0]])) == ["- note: paid late"]


@pytest.mark.parametrize("code", [2, -1, 0.5])
def test_the_code_of_no_category_is_refused(code):
    with pytest.raises(AuditError, match="column 'work': a code is not one of its 2 categories"):
        Serialiser.of(SCHEMA, "list").records(np.float32([[1, code, 1]]))


def test_classes_that_read_the_same_are_refused():
    target = SCHEMA["target"] | {"categories": ["a b", "a  b"]}
    with pytest.raises(AuditError, match="two classes differ in blanks only"):
        Serialiser.of(SCHEMA | {"target": target}, "list")
