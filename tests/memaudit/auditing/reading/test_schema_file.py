"""The user's schema.yaml: what is written is read again, and a fault is one line that names the column."""

import re

import pytest

from memaudit.auditing.reading import schema_file
from memaudit.common.errors import AuditError

COLUMNS = {
    "c0": {"name": "Größe", "type": "numeric", "use": True},
    "c1": {"name": "note", "type": None, "use": False},
    "c2": {"name": "city", "type": "categorical", "use": False},
}


def test_what_is_offered_is_read_again_with_the_readings_for_the_user_alone(tmp_path):
    path = tmp_path / "schema.yaml"
    assert schema_file.edited(path) is None
    remarks = {"readings": {"Größe": "decimal comma"}, "left_out": {"city": "free text"}}
    schema_file.offer(path, {"columns": COLUMNS} | remarks)
    assert "decimal comma" in path.read_text(encoding="utf-8")
    plain = {"decimal": None, "dates": None, "left_out": None}
    assert schema_file.edited(path) == {
        "Größe": {"type": "numeric", "use": True} | plain,
        "city": {"type": "categorical", "use": False} | plain | {"left_out": "free text"},
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("columns: [", "cannot be read"),
        ("columns: [{name: a}]", "cannot be read"),
        ("columns: [{name: a, type: number, use: true}]", "column 'a': type must be one of"),
        ("columns: [{name: a, type: numeric, use: 1}]", "use must be true or false"),
        ("columns: [{name: a, type: numeric, use: true, decimal: ;}]", "column 'a': decimal must be"),
        ("columns: [{name: a, type: date, use: true, dates: dym}]", "and dates one of"),
    ],
)
def test_a_fault_is_one_line(tmp_path, text, message):
    (tmp_path / "schema.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(AuditError, match=re.escape(message)) as found:
        schema_file.edited(tmp_path / "schema.yaml")
    assert "\n" not in str(found.value)
