"""Columns that local tables lack are said in one line for all of them."""

from types import SimpleNamespace

import pytest
from conftest import load_script

from memaudit.common.errors import AuditError

check_tables = load_script("maintenance_check_tables")
READING = {"delimiter": None, "encoding": None, "task": "classification", "group": None, "drop": [], "types": {}}


def test_each_table_with_a_column_that_is_not_there_is_named(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b,y\n1,2,0\n")
    right = READING | {"path": str(path), "target": "y"}
    tables = {"right": right}
    tables |= {"one": right | {"target": "z"}, "two": right | {"drop": ["c"]}, "three": right | {"group": "person"}}
    with pytest.raises(AuditError) as fault:
        check_tables.main(SimpleNamespace(params=SimpleNamespace(tables=tables)))
    assert str(fault.value) == "; ".join(
        f"data set {name} (file {path}): {key}: there is no column {column!r}; the table has a, b, y"
        for name, key, column in (("one", "target", "z"), ("two", "drop", "c"), ("three", "group", "person"))
    )
