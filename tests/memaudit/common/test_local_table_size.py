"""Rows and features of local tables before they are read."""

import gzip

import pandas as pd
import pytest

from memaudit.common.local_table_size import BLOCK, counted


def entry(path, delimiter=None):
    return {"path": str(path), "delimiter": delimiter}


def test_lines_that_end_by_carriage_returns_alone_and_a_delimiter_of_two_signs(tmp_path):
    path = tmp_path / "table.csv"
    path.write_bytes(b"a::b::target\r1::2::3\r4::5::6\r")
    assert counted(entry(path, "::")) == {"rows": 2, "columns": 2}


@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_a_csv_has_its_lines_less_the_header(tmp_path, delimiter, end):
    path = tmp_path / "table.csv"
    path.write_bytes((delimiter.join(['"a"', "b", "target"]) + ("\n" + delimiter.join("123")) * 5 + end).encode())
    assert counted(entry(path)) == {"rows": 5, "columns": 2}


def test_a_stated_delimiter_and_a_compressed_file(tmp_path):
    path = tmp_path / "table.csv.gz"
    path.write_bytes(gzip.compress(b"a,x:b,y:target\n1:2:3\n4:5:6\n"))
    assert counted(entry(path, ":")) == {"rows": 2, "columns": 2}


def test_a_file_of_several_blocks(tmp_path):
    path, rows = tmp_path / "table.csv", BLOCK // 4
    path.write_bytes(b"a,b\n" + b"1234,no\n" * rows)
    assert counted(entry(path)) == {"rows": rows, "columns": 1}


def test_a_parquet_file_states_its_size(tmp_path):
    pd.DataFrame({"a": range(7), "b": 1, "target": "x"}).to_parquet(tmp_path / "table.parquet")
    assert counted(entry(tmp_path / "table.parquet")) == {"rows": 7, "columns": 2}


def test_what_is_no_table_has_no_size(tmp_path):
    assert counted(entry(tmp_path / "absent.csv")) == {}
    for name, content in {"empty": b"", "zip": b"PK\x03\x04", "cut.parquet": b"PAR1", "cut": b"\x1f\x8b\x08"}.items():
        (tmp_path / name).write_bytes(content)
        assert counted(entry(tmp_path / name)) == {}


def test_a_file_that_changes_is_counted_again(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("a,b\n1,2\n")
    assert counted(entry(path))["rows"] == 1
    path.write_text("a,b\n1,2\n3,4\n")
    assert counted(entry(path))["rows"] == 2
