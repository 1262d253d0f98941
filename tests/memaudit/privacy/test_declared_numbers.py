"""Numbers of a private table are read cell by cell, by the declared decimal sign alone."""

import pytest

from memaudit.common.errors import AuditError
from memaudit.common.io import write_table
from memaudit.data.duckdb_engine import connect, parquet
from memaudit.privacy.declared_numbers import described, read_numbers


@pytest.fixture
def read(tmp_path):
    """Numbers of cells of one column, by the decimal sign."""
    import pandas as pd

    def call(cells, decimal, missing=("?",)):
        write_table(pd.DataFrame({"Größe (cm)": cells}), tmp_path / "raw.parquet")
        with connect(tmp_path) as connection:
            connection.execute(f"CREATE VIEW file AS SELECT * FROM {parquet(tmp_path / 'raw.parquet')}")
            (value,) = read_numbers(connection, ["Größe (cm)"], decimal, missing).values()
            rows = connection.execute(f"SELECT {value} FROM file ORDER BY file_row_number").fetchall()
            return [number for (number,) in rows]

    return call


@pytest.mark.parametrize(
    ("decimal", "cell", "number"),
    [
        (",", "1,5", 1.5),
        (",", " -0,25 ", -0.25),
        (",", "\u22123,0", -3.0),
        (",", ",5", 0.5),
        (",", "7,", 7.0),
        (",", "42", 42.0),
        (",", "1.234", 1234.0),
        (",", "1.234.567,8", 1234567.8),
        (",", "12 345,6", 12345.6),
        (",", "12\u202f345,6", 12345.6),
        (",", "12\u00a0345,6", 12345.6),
        (",", "\t 1 234,5\u2009\n", 1234.5),
        (",", "1'234,5", 1234.5),
        (",", "1\u2019234,5", 1234.5),
        (",", "1,5e3", 1500.0),
        (",", "?", None),
        (",", "", None),
        (".", "1,234.5", 1234.5),
        (".", "1,234", 1234.0),
        (".", "1.234", 1.234),
        (".", "1e-3", 0.001),
        (None, "1.234", 1.234),
        (None, "1e-3", 0.001),
        (None, "?", None),
    ],
)
def test_a_cell_has_one_reading(read, decimal, cell, number):
    assert read([cell], decimal) == [number]


@pytest.mark.parametrize(
    ("decimal", "cell"),
    [
        *((",", cell) for cell in ("1.5", "0.123", "1.2345", "1.234 567", "1,2,3", "1_000", "12 %", "1-", "inf", "x")),
        *((",", cell) for cell in ("1\t234", "1\n234,5", "1\r234", "1\u2003234", "1\u3000234")),
        *((".", cell) for cell in ("1,5", "0,123", "1.2.3")),
        *((None, cell) for cell in ("1,5", "1,234", "1_000", "x")),
    ],
)
def test_what_the_declared_sign_does_not_allow_is_no_number(read, decimal, cell):
    """Also where other cells, or all others, are written so: the reading of a cell depends on that cell alone."""
    with pytest.raises(
        AuditError, match=r"column 'Größe \(cm\)' must be numeric, but data row 2 holds no number"
    ) as it:
        read(["1", cell, cell, cell], decimal)
    assert cell not in str(it.value) or cell == "x"


def test_the_message_names_the_key(read):
    with pytest.raises(AuditError, match=r'correct it, or declare `decimal: ","`'):
        read(["1,5"], None)
    with pytest.raises(AuditError, match=r"with the declared `decimal: ,`; a release reads each cell by itself"):
        read(["1.5"], ",")


def test_a_mark_of_a_missing_value_is_the_text_of_the_file(read):
    """1,5 is the number 1.5, which the mark 1.5 does not mean; the mark -9,0 does mean the cell -9,0."""
    assert read(["1,5", "-9,0", "2"], ",", missing=("1.5", "-9,0")) == [1.5, None, 2.0]


def test_the_reading_is_told():
    assert [described(sign) for sign in (None, ".", ",")] == [
        "decimal point",
        "decimal point, as declared",
        "decimal comma, as declared",
    ]
