"""Shapes of cells: their form without their content."""

import duckdb
import pytest

from memaudit.data.cell_shapes import count_cells, has_shape, shapes


@pytest.fixture
def connection():
    with duckdb.connect() as connection:
        yield connection


def table(*cells):
    return "(SELECT unnest([" + ", ".join("NULL" if cell is None else f"'{cell}'" for cell in cells) + "]) AS x)"


def test_a_shape_holds_no_digit_letter_or_kind_of_blank(connection):
    cells = table("1.234,50 EUR", "9.876,11 USD", "0,5", "00123", "\u22125\u00a0%", "word", None)
    found = shapes(connection, cells, {"x": "x"})["x"]
    assert found == {"9.999,99 a": 2, "z,9": 1, "z9999": 1, "-9 %": 1}


def test_long_and_word_like_cells_have_no_shape(connection):
    assert shapes(connection, table("a1b2c3d4e5f6", "x" * 60 + "1", "12 Main Street 5"), {"x": "x"})["x"] == {}


def test_plain_numbers_are_counted_without_shapes(connection):
    cells = count_cells(connection, table("1", "2.5", None, "-3e2"), {"x": "x"})["x"]
    assert (cells.present, cells.numbers, cells.codes, cells.points, cells.digits) == (3, 3, 0, 1, 3)
    assert (cells.least, cells.largest) == (-300, 2.5)
    assert cells.plain
    for doubtful in (["1", "x"], ["01", "2"], ["1.234", "5.678"], ["1234567890123456"]):
        assert not count_cells(connection, table(*doubtful), {"x": "x"})["x"].plain
    for plain in (["0.5"], ["1.234", "2.5"], ["0.123"], ["1e20"], ["0"], ["12345.678", "1.234"]):
        assert count_cells(connection, table(*plain), {"x": "x"})["x"].plain


def test_a_column_without_values_has_counts_of_zero(connection):
    cells = count_cells(connection, table(None, None).replace("[NULL", "['' , NULL"), {"x": "nullif(x, '')"})["x"]
    assert (cells.present, cells.codes, cells.points, cells.digits) == (0, 0, 0, 0)


def test_cells_of_a_shape_are_found_again(connection):
    query = f"SELECT x FROM {table('01,5', '1,5', 'word')} WHERE {has_shape('x', ['z9,9'])}"
    assert connection.execute(query).fetchall() == [("01,5",)]
