"""A table is read as numbers and categories, and columns that recognise nobody are known."""

import numpy as np
import pandas as pd
import pytest

from memaudit.auditing.reading.reading_options import ReadingOptions
from memaudit.common.errors import AuditError
from memaudit.scanning import own_table


def column(values):
    return own_table.Column("a", np.asarray(values, float), True, [])


@pytest.mark.parametrize("suffix", ["csv", "csv.gz", "parquet"])
def test_columns_are_numbers_and_sorted_categories(tmp_path, suffix):
    frame = pd.DataFrame({"a": [1.5, 2, None, 4, 5], "b": ["y", "x", None, "y", "?"], "c": [True, False] * 2 + [True]})
    path = tmp_path / f"t.{suffix}"
    frame.to_parquet(path) if suffix == "parquet" else frame.to_csv(path, index=False)
    a, b, _ = own_table.read(str(path))
    np.testing.assert_array_equal(a.values, [1.5, 2, np.nan, 4, 5])
    np.testing.assert_array_equal(b.values, [1, 0, np.nan, 1, np.nan])
    assert b.names == ["x", "y"]
    assert list(tmp_path.iterdir()) == [path]


def test_a_table_that_cannot_be_read_is_one_line_with_its_name(tmp_path):
    for name, text in (("none.csv", None), ("short.csv", "a,b\n1,2\n"), ("ragged.csv", "a,b\n" + "1,2,3\n" * 9)):
        if text:
            (tmp_path / name).write_text(text)
        with pytest.raises(AuditError) as error:
            own_table.read(str(tmp_path / name))
        assert name in str(error.value)
        assert "\n" not in str(error.value)


def test_numbers_dates_and_codes_are_read_as_an_audit_reads_them(tmp_path):
    rows = ["pay;day;code;share", *(f"{n},5;{n}.12.2024;{n:04d};{n} %" for n in range(1, 9))]
    (tmp_path / "t.csv").write_text("\n".join(rows))
    table = own_table.read(str(tmp_path / "t.csv"))
    assert all(one.numeric for one in table)
    pay, day, code, share = (one.values for one in table)
    np.testing.assert_array_equal(pay, np.arange(1, 9) + 0.5)
    np.testing.assert_array_equal(np.diff(day), np.diff(day)[0])
    np.testing.assert_array_equal([code, share], [np.arange(1, 9)] * 2)
    assert table[0].written["1,5"] == 1.5
    assert own_table.described(table)[0] == "  'pay' is read with: decimal comma"
    assert len(own_table.described(table * 10)) == own_table.MOST_TOLD + 1


def test_options_leave_columns_out_and_read_them_as_categories(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n" + "".join(f"{n},{n % 3}\n" for n in range(9)))
    (b,) = own_table.read(str(tmp_path / "t.csv"), ReadingOptions(drop=["a"], categorical=["b"], missing=["2"]))
    assert (b.name, b.names, b.numeric) == ("b", ["0", "1"], False)
    for options in (ReadingOptions(drop=["c"]), ReadingOptions(categorical=["c"]), ReadingOptions(drop=["a", "b"])):
        with pytest.raises(AuditError, match=r"t.csv': --"):
            own_table.read(str(tmp_path / "t.csv"), options)


def test_one_column_of_words_may_have_another_delimiter(tmp_path):
    (tmp_path / "t.csv").write_text("a#b\n" + "".join(f"{n}.5#{n}\n" for n in range(9)))
    with pytest.raises(AuditError, match=r"t.csv': is read as one column of words; give .* --delimiter"):
        own_table.read(str(tmp_path / "t.csv"))
    assert len(own_table.read(str(tmp_path / "t.csv"), ReadingOptions(delimiter="#"))) == 2
    (tmp_path / "t.csv").write_text("a\n" + "".join(f"w{n}\n" for n in range(9)))
    assert len(own_table.read(str(tmp_path / "t.csv"), ReadingOptions(delimiter=","))) == 1


def test_texts_of_a_parquet_file_are_read_likewise(tmp_path):
    pd.DataFrame({"a": [f"{n},5" for n in range(9)]}).to_parquet(tmp_path / "t.parquet")
    np.testing.assert_array_equal(own_table.read(str(tmp_path / "t.parquet"))[0].values, np.arange(9) + 0.5)


def test_only_values_at_uneven_distances_recognise_rows():
    rng = np.random.default_rng(0)
    assert column(rng.normal(size=50)).recognises
    assert not column(np.arange(50)).recognises
    assert not column(rng.integers(18, 90, 500)).recognises
    assert not column(rng.normal(size=10)).recognises


def test_an_order_without_equal_values_or_a_sorted_one_is_no_evidence():
    rng = np.random.default_rng(0)
    assert own_table.informative(own_table.appearance(rng.integers(0, 2, 100)))
    assert not own_table.informative(own_table.appearance(rng.normal(size=100)))
    assert not own_table.informative(own_table.appearance(np.repeat([0, 1], 50)))
    assert not own_table.informative(own_table.appearance(rng.integers(0, 2, 20)))
