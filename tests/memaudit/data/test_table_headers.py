"""Names of columns are those that the fetched table has."""

import gzip

import pandas as pd
import pytest

from memaudit.common.errors import AuditError
from memaudit.data.table_headers import column_names

DETECTED = {"delimiter": None, "encoding": None}


def test_names_of_a_csv_with_any_delimiter_packed_or_not_and_of_parquet(tmp_path):
    (tmp_path / "a.csv").write_text('\ufeff"a, b";churn\n1;x\n', encoding="utf-8")
    assert column_names(DETECTED, tmp_path / "a.csv") == ["a, b", "churn"]
    (tmp_path / "b.csv.gz").write_bytes(gzip.compress("é|b,c\n".encode("latin-1")))
    assert column_names({"delimiter": "|", "encoding": "latin-1"}, tmp_path / "b.csv.gz") == ["é", "b,c"]
    pd.DataFrame({"a": [1], "b": ["x"]}).to_parquet(tmp_path / "c.parquet")
    assert column_names(DETECTED, tmp_path / "c.parquet") == ["a", "b"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file is empty"),
        (b"PAR1 and no more", "cannot be read"),
        (b"a,a\n", "both called 'a'"),
        (b"PK\x03\x04", "a zip"),
    ],
)
def test_a_file_that_is_no_table_is_one_line(tmp_path, content, message):
    (tmp_path / "t.csv").write_bytes(content)
    with pytest.raises(AuditError, match=message):
        column_names(DETECTED, tmp_path / "t.csv")


def test_an_unknown_encoding_is_one_line(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n")
    with pytest.raises(AuditError, match=r"t\.csv: encoding 'utf-99' is unknown"):
        column_names({"delimiter": None, "encoding": "utf-99"}, tmp_path / "t.csv")
