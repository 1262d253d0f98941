"""Codes of records by hand and back, one row for each unit."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from memaudit.privacy.public_facts import Column, Public
from memaudit.privacy.record_discretization import coded, counts, restored

COLUMNS = (Column("age", (0.0, 100.0)), Column("job", ("cook", "nurse", "vet")), Column("target", (-1.0, 1.0)))
PUBLIC = Public("people", "made up", 60, "classification", COLUMNS, Column("target", ("no", "yes")))
RENTS = replace(PUBLIC, task="regression", target=Column("target", (0.0, 50.0)))


def table(size=300):
    rng = np.random.default_rng(1)
    x = np.column_stack([rng.uniform(0, 100, size), rng.integers(0, 3, size), rng.uniform(-1, 1, size)])
    return x.astype(np.float32), rng.integers(0, 2, size), [f"unit {number}" for number in range(size)]


def test_codes_are_equal_intervals_of_the_public_bounds_and_places_in_the_public_lists():
    x = np.array([[0, 0, -1], [24.9, 2, 0], [25, np.nan, 1], [100, 1, np.nan], [np.nan, 1, 0.49]], dtype=np.float32)
    codes = coded(x, np.array([0, 1, 1, 0, 1]), list("abcde"), PUBLIC, 4, 3)
    expected = {"0": [0, 0, 1, 3, 2], "1": [0, 2, 3, 1, 1], "2": [0, 2, 3, 2, 2], "target": [0, 1, 1, 0, 1]}
    pd.testing.assert_frame_equal(codes, pd.DataFrame(expected))
    assert counts(PUBLIC, 4, 3) == {"0": 4, "1": 4, "2": 4, "target": 2}


def test_a_number_target_is_cut_like_any_number():
    x, _, units = table(3)
    codes = coded(x, np.array([0.0, 26.0, 50.0]), units, RENTS, 5, 0)
    assert codes.to_dict("list") == {"target": [0, 2, 4]}
    assert counts(RENTS, 5, 0) == {"target": 5}
    _, y = restored(codes, RENTS, 5, np.random.default_rng(0))
    assert ((y >= [0, 20, 40]) & (y <= [10, 30, 50])).all()


def test_removing_one_unit_takes_out_one_row_and_changes_no_other():
    x, y, units = table(40)
    units[3] = units[9] = units[20]
    whole = coded(x, y, units, PUBLIC, 8, 3)
    assert len(whole) == 38
    for unit in set(units):
        rest = np.array([other != unit for other in units])
        left = coded(x[rest], y[rest], np.array(units)[rest], PUBLIC, 8, 3)
        gone = next(place for place in range(38) if place == 37 or not whole.iloc[place].equals(left.iloc[place]))
        pd.testing.assert_frame_equal(whole.drop(index=gone).reset_index(drop=True), left)


@pytest.mark.parametrize("public", [PUBLIC, RENTS])
def test_records_of_codes_have_these_codes(public):
    x, y, units = table()
    x[:5] = np.nan
    codes = coded(x, y, units, public, 7, 3)
    again, labels = restored(codes, public, 7, np.random.default_rng(3))
    assert again.dtype == np.float32
    assert labels.dtype == (np.int64 if public is PUBLIC else np.float64)
    assert np.isnan(again[:5, 1]).all()
    pd.testing.assert_frame_equal(coded(again, labels, units, public, 7, 3), codes)


def test_a_number_is_uniform_within_its_interval():
    codes = pd.DataFrame({"0": np.full(4000, 3), "target": 0})
    x, _ = restored(codes, PUBLIC, 10, np.random.default_rng(0))
    shares = np.histogram(x[:, 0], bins=np.linspace(30, 40, 6))[0] / 4000
    assert shares.sum() == 1
    np.testing.assert_allclose(shares, 0.2, atol=0.03)


def test_columns_beyond_the_cap_are_drawn_from_public_facts_alone():
    x, y, units = table()
    x[:, 1:] = [2, 0.9]
    codes = coded(x, y, units, PUBLIC, 10, 1)
    assert list(codes) == ["0", "target"]
    drawn, _ = restored(codes, PUBLIC, 10, np.random.default_rng(0))
    np.testing.assert_allclose(np.bincount(drawn[:, 1].astype(int)) / 300, 1 / 3, atol=0.1)
    np.testing.assert_allclose(np.histogram(drawn[:, 2], bins=4, range=(-1, 1))[0] / 300, 0.25, atol=0.1)
