"""Content decides what a table file is, and what is no table is named."""

import gzip

import pandas as pd
import pytest
from raw_tables import CSV, csv_entry, fetched

from memaudit.common.errors import AuditError


def test_content_decides_what_a_file_is_whatever_its_name(tmp_path):
    gzipped, _ = fetched(csv_entry(tmp_path, gzip.compress(CSV.encode()), "gzipped.csv"), tmp_path)
    plain, _ = fetched(csv_entry(tmp_path, CSV, "plain.csv.gz"), tmp_path)
    assert list(gzipped["age"]) == list(plain["age"]) == ["31", "44"]
    pd.DataFrame({"x": [1.5, 2.5]}).to_parquet(tmp_path / "parquet.csv")
    table, facts = fetched({"source": "file", "path": str(tmp_path / "parquet.csv")}, tmp_path)
    assert facts["typed"]
    assert list(table["x"]) == [1.5, 2.5]


@pytest.mark.parametrize(
    ("content", "name", "message"),
    [
        (b"PK\x03\x04 and more", "workbook.csv", "is a zip archive or a workbook"),
        (b"\xd0\xcf\x11\xe0 and more", "old.csv", r"is a workbook \(xls\)"),
        (CSV, "table.parquet", "is not a Parquet file"),
        ("", "nothing.csv", "the file is empty"),
    ],
)
def test_a_file_that_is_no_table_is_named_with_what_it_is(tmp_path, content, name, message):
    with pytest.raises(AuditError, match=rf"{name}: {message}"):
        fetched(csv_entry(tmp_path, content, name), tmp_path)
