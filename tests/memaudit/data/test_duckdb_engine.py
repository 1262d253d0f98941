"""The engine: names from data never become SQL, spilled files go, and a damaged table is named without its values."""

import pandas as pd
import pytest

from memaudit.common.errors import AuditError
from memaudit.data.duckdb_engine import connect, identifier, literal, parquet


def test_names_and_texts_are_quoted(tmp_path):
    name, text = 'a "b"; DROP TABLE x', "it's; --"
    with connect(tmp_path) as connection:
        rows = connection.execute(f"SELECT {literal(text)} AS {identifier(name)}").df()
    assert rows.to_dict("list") == {name: [text]}


def test_rows_of_a_parquet_file_are_numbered_and_nothing_is_left(tmp_path):
    pd.DataFrame({"x": [5, 6]}).to_parquet(tmp_path / "t.parquet")
    with connect(tmp_path) as connection:
        rows = connection.execute(f"SELECT * FROM {parquet(tmp_path / 't.parquet')}").fetchall()
    assert rows == [(5, 0), (6, 1)]
    assert [path.name for path in tmp_path.iterdir()] == ["t.parquet"]


def test_a_damaged_file_is_named(tmp_path):
    (tmp_path / "t.parquet").write_bytes(b"PAR1 4711")
    with pytest.raises(AuditError, match=r"t\.parquet: cannot be read") as error, connect(tmp_path) as connection:
        connection.execute(f"SELECT * FROM {parquet(tmp_path / 't.parquet')}")
    assert "4711" not in str(error.value)
