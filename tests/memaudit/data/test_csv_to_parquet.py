"""CSV files of any dialect become the same table, and a malformed one is one line without values."""

import gzip

import pytest
from raw_tables import CSV, csv_entry, fetched

from memaudit.common.errors import AuditError
from memaudit.data import csv_to_parquet


@pytest.mark.parametrize(
    ("name", "content", "more"),
    [
        ("a.csv.gz", gzip.compress(CSV.encode()), {}),
        ("a.tsv", CSV.replace(",", "\t"), {}),
        ("a.csv", CSV.replace(",", ";"), {"delimiter": ";"}),
        ("a.csv", CSV.replace(",", ";"), {}),
        ("a.csv", b"\xef\xbb\xbf" + CSV.encode(), {}),
        ("a.csv", CSV.replace("\n", "\r\n"), {}),
        ("a.csv", CSV.replace("cook", '"cook"'), {}),
    ],
    ids=["gzip", "tabs", "semicolons", "semicolons detected", "byte order mark", "carriage returns", "quotes"],
)
def test_csv_dialects_hold_the_same_table(tmp_path, name, content, more):
    table, _ = fetched(csv_entry(tmp_path, content, name, **more), tmp_path)
    assert table["job"].tolist() == ["cook", "nurse"]
    assert list(table) == ["age", "job", "pay"]


@pytest.mark.parametrize(
    ("line", "delimiter"),
    [("a;b;c", ";"), ("a\tb", "\t"), ('"a;b;c",d', ","), ("a|b,c|d", "|"), ("a", ","), ("", ","), ('"a\n";b;c', ";")],
)
def test_the_delimiter_is_the_most_frequent_one_outside_quotes(tmp_path, line, delimiter):
    (tmp_path / "t.csv").write_text(line + "\n")
    assert csv_to_parquet.detected_delimiter(tmp_path / "t.csv", "utf-8") == delimiter
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(f"{line}\n".encode()))
    assert csv_to_parquet.detected_delimiter(tmp_path / "t.csv.gz", "utf-8") == delimiter


def test_csv_in_latin_1_is_read_when_it_says_so(tmp_path):
    entry = csv_entry(tmp_path, "name,pay\nJosé,low\n".encode("latin-1"), encoding="latin-1")
    assert fetched(entry, tmp_path)[0]["name"].tolist() == ["José"]


def test_quoted_cells_keep_commas_quotes_and_line_breaks(tmp_path):
    table, _ = fetched(csv_entry(tmp_path, 'a,"b, c"\n1,"x, ""y""\nz"\n'), tmp_path)
    assert table["b, c"].tolist() == ['x, "y"\nz']


def test_a_column_name_is_never_sql(tmp_path):
    name = """x') FROM raw; DROP TABLE "raw"; --"""
    table, _ = fetched(csv_entry(tmp_path, f'"{name.replace(chr(34), chr(34) * 2)}",pay\n1,2\n'), tmp_path)
    assert list(table) == [name, "pay"]


SECRET = "4711-secret"
BAD = {
    "0 bytes": (b"", "the file is empty"),
    "header only": (b"a,b\n", "a header, but no records"),
    "ragged, too long": (f"a,b\n1,2\n3,4,{SECRET}\n".encode(), "line 3 has 3 fields where the header has 2"),
    "ragged, too short": (f"a,b\n1,2\n3,4\n{SECRET}\n".encode(), "line 4 has 1 fields where the header has 2"),
    "not UTF-8": (f"a,b\n1,2\n{SECRET},".encode() + b"\xe9\n", "line 3 is not utf-8; set `encoding`"),
    "header not UTF-8": (b"a,\xe9\n1,2\n", "line 1 is not utf-8; set `encoding`"),
    "twice the same name": (b"a,b,A\n1,2,3\n", "columns 1 and 3 are both called 'A'"),
    "no name": (b"a,,b\n1,2,3\n", "column 2 has no name"),
    "open quote": (f'a,b\n1,"{SECRET}\n3,4\n'.encode(), "line 2 opens a quote that is never closed"),
    "damaged gzip": (gzip.compress(CSV.encode())[:20], "cannot be read"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_csv_gets_one_line_without_values(tmp_path, case):
    content, line = BAD[case]
    name = "t.csv.gz" if "gzip" in case else "t.csv"
    with pytest.raises(AuditError, match=line) as error:
        fetched(csv_entry(tmp_path, content, name), tmp_path)
    assert "\n" not in str(error.value)
    assert SECRET not in str(error.value)
    assert not (tmp_path / "out" / "raw.parquet").exists()


LINES = ["age,job", *(f'{i},"cook\r\nor ""nurse"" {i}\n"' for i in range(40))]


@pytest.mark.parametrize("gzipped", [False, True])
@pytest.mark.parametrize(
    "ends", [["\n", "\r\n"], ["\r\n", "\n"], ["\r\n", "\n", "\r"], ["\n"] * 39 + ["\r\n"], ["\r\n"], ["\r"]], ids=repr
)
def test_lines_may_end_in_any_way_and_quoted_breaks_are_kept(tmp_path, monkeypatch, ends, gzipped):
    monkeypatch.setattr(csv_to_parquet, "BLOCK", 7)  # blocks end within line ends and quotes
    content = "".join(line + ends[place % len(ends)] for place, line in enumerate(LINES)).encode()
    name = "a.csv.gz" if gzipped else "a.csv"
    table, _ = fetched(csv_entry(tmp_path, gzip.compress(content) if gzipped else content, name), tmp_path)
    assert table["age"].tolist() == [str(i) for i in range(40)]
    assert table["job"].tolist() == [f'cook\r\nor "nurse" {i}\n' for i in range(40)]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("inside", ["\n", "\r\n"])
def test_a_quoted_name_may_hold_a_line_break(tmp_path, end, inside):
    content = end.join([f'"age{inside}in years",job', "1,cook", "2,nurse", ""])
    table, _ = fetched(csv_entry(tmp_path, content.encode()), tmp_path)
    assert list(table) == [f"age{inside}in years", "job"]
    assert table["job"].tolist() == ["cook", "nurse"]


def test_a_fault_in_a_file_of_mixed_line_ends_keeps_its_line(tmp_path):
    content = f"a,b\r\n1,2\n3,4,{SECRET}\r\n".encode()
    with pytest.raises(AuditError, match="line 3 has 3 fields where the header has 2"):
        fetched(csv_entry(tmp_path, content), tmp_path)
