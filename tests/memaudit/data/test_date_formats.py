"""Layouts of dates: orders that all cells have, and times in UTC."""

import duckdb
import pytest

from memaudit.data import date_formats

DAYS = "(SELECT unnest(['03/04/2020', '25/12/2020', '30/02/2020']) AS x)"


@pytest.fixture
def connection():
    with duckdb.connect() as connection:
        yield connection


def test_valid_dates_are_counted_by_order(connection):
    found, cells = date_formats.layouts({"z9/99/9999": 1, "99/99/9999": 2})
    assert cells == 3
    assert date_formats.possible(connection, DAYS, "x", found) == {"dmy": 2, "mdy": 1}


@pytest.mark.parametrize(
    "shape", ["9.9.9", "9999-99-9999", "99/99", "a-a-9999", "99/99-9999", "99.99.9999 99:99 -99:99"]
)
def test_other_shapes_are_no_dates(connection, shape):
    found, _ = date_formats.layouts({shape: 1})
    assert not date_formats.possible(connection, DAYS, "x", found)


def test_two_digits_may_be_the_year_at_either_end(connection):
    found, _ = date_formats.layouts({"99/99/99": 1})
    cells = "(SELECT '03/04/05' AS x)"
    assert date_formats.possible(connection, cells, "x", found) == {"dmy": 1, "mdy": 1, "ymd": 1}
    assert not date_formats.century_is_open(connection, cells, "x", found, "dmy")
    assert date_formats.century_is_open(connection, "(SELECT '03/04/45' AS x)", "x", found, "dmy")


@pytest.mark.parametrize(
    ("cell", "utc"),
    [
        ("2024-01-01 00:30:00+02:00", "2023-12-31 22:30:00"),
        ("2024-01-01T12:00Z", "2024-01-01 12:00:00"),
        ("2024-01-01 12:00", "2024-01-01 12:00"),
        ("2024-01-01", "2024-01-01"),
    ],
)
def test_a_time_with_a_zone_is_utc_wherever_it_is_read(connection, cell, utc):
    for zone in ("UTC", "America/New_York"):
        connection.execute(f"SET TimeZone = '{zone}'")
        query = f"SELECT {date_formats.zoned('x')}, {date_formats.is_iso('x')} FROM (SELECT '{cell}' AS x)"
        assert connection.execute(query).fetchall() == [(utc, True)]


def test_days_that_do_not_exist_are_no_dates(connection):
    query = "SELECT {}, {} FROM (SELECT '20240230' AS x, '2024-02-30' AS y)"
    found = connection.execute(query.format(date_formats.compact("x"), date_formats.is_iso("y"))).fetchone()
    assert found == (None, False)
