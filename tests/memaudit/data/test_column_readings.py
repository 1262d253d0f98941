"""Numbers and dates of known truth, written in each notation and read back: equal, or refused where two fit."""

import duckdb
import numpy as np
import pandas as pd
import pytest

from memaudit.common.errors import AuditError
from memaudit.data.column_readings import CODES, DATE, NUMERIC, Choices, read_columns
from memaudit.data.column_schema import cleaned

ROWS = 60
RNG = np.random.default_rng(5)
CENTS = RNG.integers(-99_999_999, 99_999_999, ROWS)
NUMBERS = CENTS / 100
DAYS = pd.Timestamp("1990-01-31") + pd.to_timedelta(RNG.integers(0, 12_000, ROWS), "D")
OPEN_DAYS = [pd.Timestamp(2020, 1 + i % 12, 1 + i * 5 % 12) for i in range(ROWS)]


def written(value, group="", decimal=".", places=2):
    """The value with groups of thousands."""
    return f"{value:,.{places}f}".replace(",", "_").replace(".", decimal).replace("_", group)


def negative(form):
    return lambda value: form.format(written(-value, ",")) if value < 0 else written(value, ",")


NOTATIONS = {
    "decimal comma": lambda v: written(v, "", ","),
    "points and comma": lambda v: written(v, ".", ","),
    "commas and point": lambda v: written(v, ",", "."),
    "apostrophes": lambda v: written(v, "'"),
    "curly apostrophes": lambda v: written(v, "\u2019"),
    "blanks": lambda v: written(v, " ", ","),
    "no-break spaces": lambda v: written(v, "\u00a0", ","),
    "narrow no-break spaces": lambda v: written(v, "\u202f", ","),
    "thin spaces": lambda v: written(v, "\u2009", "."),
    "percent": lambda v: f"{written(v, '', ',')} %",
    "percent without a blank": lambda v: f"{written(v)}%",
    "euro behind": lambda v: f"{written(v, '.', ',')}\u00a0€",
    "dollar after the sign": lambda v: f"{'-' if v < 0 else ''}${written(abs(v), ',')}",
    "dollar before the sign": lambda v: f"${written(v, ',')}",
    "currency code": lambda v: f"CHF {written(v, chr(39))}",
    "unit": lambda v: f"{written(v)} kg",
    "brackets": negative("({})"),
    "trailing minus": negative("{}-"),
    "unicode minus": lambda v: written(v, ",").replace("-", "\u2212"),
    "plus sign": lambda v: f"{v:+.2f}".replace(".", ","),
    "outer no-break spaces": lambda v: f"\u00a0{v:.2f}\u00a0",
}  # fmt: skip
DATES = {
    "d.m.y": "%d.%m.%Y", "d/m/y": "%d/%m/%Y", "m/d/y": "%m/%d/%Y", "d-m-y": "%d-%m-%Y", "y/m/d": "%Y/%m/%d",
    "with a time": "%d.%m.%Y %H:%M", "in halves of a day": "%m/%d/%Y %I:%M:%S %p", "month": "%d-%b-%Y",
    "month first": "%B %d, %Y", "digits": "%Y%m%d", "two digits of a year": "%d.%m.%y", "ISO": "%Y-%m-%dT%H:%M:%SZ",
}  # fmt: skip


@pytest.fixture
def read():
    """Read columns of texts: their readings, and the values of the column x."""
    with duckdb.connect() as database:

        def reading(x, choices=None, **more):
            connection = database.cursor()
            frame = pd.DataFrame({"x": x} | more, dtype="string").assign(file_row_number=range(len(x)))
            connection.register("cells", frame)
            texts = {name: cleaned(name) for name in ["x", *more]}
            found = read_columns(connection, "cells", texts, choices or Choices())
            values = connection.execute(f"SELECT {found['x'].value or cleaned('x')} FROM cells").fetchall()
            return found, [value for (value,) in values]

        yield reading


@pytest.mark.parametrize("notation", NOTATIONS)
def test_a_number_is_read_as_it_was_written(read, notation):
    found, values = read([NOTATIONS[notation](value) for value in NUMBERS])
    assert found["x"].kind == NUMERIC
    np.testing.assert_array_equal([float(value) for value in values], NUMBERS)
    assert found["x"].remark or notation == "outer no-break spaces"


@pytest.mark.parametrize("places", [1, 4, 8])
def test_a_number_of_any_length_is_read_in_any_notation(read, places):
    values = np.round(RNG.lognormal(3, 4, ROWS), places)
    for group, decimal in [("", ","), (".", ","), (",", "."), (" ", ","), ("'", ".")]:
        _, found = read([written(value, group, decimal, places) for value in values])
        np.testing.assert_array_equal([float(value) for value in found], values)


def test_scientific_notation_with_a_decimal_comma_is_a_number(read):
    found, values = read([f"{value:.6e}".replace(".", ",") for value in NUMBERS])
    assert found["x"].kind == NUMERIC
    np.testing.assert_allclose([float(value) for value in values], NUMBERS, rtol=1e-6)


@pytest.mark.parametrize("sign", [",", "."])
def test_three_digits_behind_every_separator_are_asked_about(read, sign):
    cells = [f"{1 + i % 9}{sign}{100 + 7 * i}" for i in range(ROWS)]
    with pytest.raises(AuditError, match=r"column 'x': its numbers can be read in two ways.*`decimal: [.,]`") as error:
        read(cells)
    assert cells[0] not in str(error.value)
    for decimal in ",.":
        found, values = read(cells, Choices(decimal=decimal))
        scale = 1 if decimal == sign else 1000
        expected = [scale * float(cell.replace(",", ".")) for cell in cells]
        np.testing.assert_allclose([float(value) for value in values], expected)
        assert "as you say" in found["x"].remark
    own = Choices(decimal=sign, decimals={"x": ".,"[sign == "."]})
    assert float(read(cells, own)[1][0]) == 1100


def test_another_column_of_the_file_decides(read):
    cells = [f"{1 + i % 9},{100 + 7 * i}" for i in range(ROWS)]
    found, values = read(cells, other=[f"{i},5" for i in range(ROWS)])
    assert float(values[0]) == 1.1
    assert "as in column 'other'" in found["x"].remark
    found, values = read(cells, other=[f"{i}.5" for i in range(ROWS)])
    assert float(values[0]) == 1100
    with pytest.raises(AuditError, match="two ways"):
        read(cells, other=[f"{i}.5" for i in range(ROWS)], third=[f"{i},5" for i in range(ROWS)])


def test_commas_between_cells_make_a_point_decimal(read):
    found, _ = read([f"{1 + i % 9}.{100 + 7 * i}" for i in range(ROWS)], Choices(comma_delimited=True))
    assert found["x"].value is None
    assert "commas delimit" in found["x"].remark


def test_many_groups_beside_short_numbers_are_thousands(read):
    found, values = read([written(value, ",", places=0) for value in range(20, 30_000, 90)])
    assert [float(value) for value in values] == list(range(20, 30_000, 90))
    assert found["x"].remark == "commas group thousands"


@pytest.mark.parametrize("layout", DATES)
def test_a_date_is_read_as_it_was_written(read, layout):
    found, values = read([day.strftime(DATES[layout]) for day in DAYS])
    assert found["x"].kind == DATE
    assert pd.DatetimeIndex(values).tolist() == DAYS.tolist()
    assert found["x"].remark


def test_times_with_zones_are_the_same_in_utc(read):
    zones = ["+02:00", "-0530", "+00", "Z"]
    cells = [f"{day:%Y-%m-%d} 12:00:00{zones[i % 4]}" for i, day in enumerate(DAYS)]
    _, values = read(cells)
    expected = pd.to_datetime(
        [cell.replace("+00", "+00:00") if cell.endswith("+00") else cell for cell in cells], utc=True, format="mixed"
    )
    assert pd.DatetimeIndex(values).tolist() == expected.tz_localize(None).tolist()


def test_dates_with_no_part_above_twelve_are_asked_about(read):
    cells = [f"{day:%d/%m/%Y}" for day in OPEN_DAYS]
    with pytest.raises(AuditError, match=r"column 'x'.*`dates: dmy` \(day, month, year\) or `dates: mdy`"):
        read(cells)
    for order, form in {"dmy": "%d/%m/%Y", "mdy": "%m/%d/%Y"}.items():
        _, values = read([day.strftime(form) for day in OPEN_DAYS], Choices(dates=order))
        assert pd.DatetimeIndex(values).tolist() == OPEN_DAYS
        other = [day.strftime(form) for day in DAYS]
        _, values = read([day.strftime(form) for day in OPEN_DAYS], other=other)
        assert pd.DatetimeIndex(values).tolist() == OPEN_DAYS


def test_points_put_the_day_first(read):
    _, values = read([f"{day:%d.%m.%Y}" for day in OPEN_DAYS])
    assert pd.DatetimeIndex(values).tolist() == OPEN_DAYS


def test_a_century_that_nobody_knows_is_refused(read):
    with pytest.raises(AuditError, match="may be of two centuries"):
        read([f"{day:%d.%m.}{30 + i % 40}" for i, day in enumerate(DAYS)])


@pytest.mark.parametrize(
    "cells",
    [
        [f"{i:05d}" for i in range(ROWS)],
        [str(10**16 + i) for i in range(ROWS)],
        [f"0{i},5" for i in range(ROWS)],
        [str(10**17 + i) for i in range(ROWS)],
    ],
)
def test_codes_are_no_numbers_unless_declared(read, cells):
    assert read(cells)[0]["x"].kind == CODES
    assert read(cells, Choices(types={"x": "numeric"}))[0]["x"].kind == NUMERIC


@pytest.mark.parametrize(
    "cells",
    [
        ["yes", "no"] * 30, ["TRUE", "FALSE"] * 30, ["ja", "nein"] * 30, ["<18", "18-25", "65+"] * 20,
        [f"ID{i}" for i in range(ROWS)], [f"{i} {'kg' if i % 2 else 'g'}" for i in range(ROWS)],
        ["1.2.3", "2.0.1", "1.10.0"] * 20, [f"12:{10 + i % 50}" for i in range(ROWS)],
        [f"+49 170 {i}{i}" for i in range(ROWS)], [f"a{i}" if i else "7" for i in range(ROWS)],
    ],
)  # fmt: skip
def test_words_stay_words(read, cells):
    found, values = read(cells)
    assert found["x"].kind == ""
    assert values == cells


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        (["1,5"] * 50 + ["many"] * 10, "mixes 50 numbers with 10 words .* the first in data row 51"),
        (["12 %"] * 30 + ["12"] * 30, "mixes 30 numbers with 30 words"),
        (["$1.5"] * 40 + ["€1.5"] * 20, "mixes 40 numbers with 20 words .* the first in data row 41"),
        (["31.12.2024"] * 59 + ["31.02.2024"], "mixes 59 dates with 1 words .* the first in data row 60"),
        (["1,5"] * 30 + ["1.5,5"] * 30, "mixes"),
        (["2024-12-31"] * 50 + ["soon"] * 10, "mixes 50 dates with 10 words .* the first in data row 51"),
    ],
)
def test_a_mixed_column_is_refused_with_its_first_row(read, cells, message):
    with pytest.raises(AuditError, match=message):
        read(cells)
    assert read(cells, Choices(types={"x": "categorical"}))[1] == cells


def test_columns_that_are_like_the_refused_one_are_named(read):
    mixed = ["1,5"] * 50 + ["many"] * 10
    with pytest.raises(AuditError, match=r"column 'x' mixes .*\(2 more columns are like this .*: 'second', 'third'\)"):
        read(mixed, plain=["1"] * 60, second=mixed, third=mixed)


def test_few_numbers_among_words_are_counted(read):
    found, _ = read([*["word"] * 59, "7"])
    assert found["x"].remark == "1 of 60 cells look like numbers, the others do not"


def test_texts_of_a_typed_file_are_read_only_if_declared(read):
    cells = [f"{i},5" for i in range(ROWS)]
    found, values = read(cells, Choices(typed=True))
    assert values == cells
    assert "look like numbers" in found["x"].remark
    assert read(cells, Choices(typed=True, types={"x": "numeric"}))[1][1] == "1.5"
