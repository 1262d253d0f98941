"""Codes of records by hand and back, one row for each unit."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from private_records import silent

from memaudit.privacy.public_facts import Column, Public
from memaudit.privacy.record_discretization import coded, counts, released_edges, restored
from memaudit.privacy.teacher_shards import Private

COLUMNS = (Column("age", (0.0, 100.0)), Column("job", ("cook", "nurse", "vet")), Column("target", (-1.0, 1.0)))
PUBLIC = Public("people", "made up", 60, "classification", COLUMNS, Column("target", ("no", "yes")))
RENTS = replace(PUBLIC, task="regression", target=Column("target", (0.0, 50.0)))
EDGES = {"0": [0, 0.25, 0.5, 1], "2": [0, 0.5, 0.75, 1], "target": [0, 0.2, 1]}


def table(public=PUBLIC, size=300):
    rng = np.random.default_rng(1)
    x = np.column_stack([rng.uniform(0, 100, size), rng.integers(0, 3, size), rng.uniform(-1, 1, size)])
    y = rng.integers(0, 2, size) if public is PUBLIC else rng.uniform(0, 50, size)
    return Private(x.astype(np.float32), y, [f"unit {number}" for number in range(size)], b"", public)


def part(private, kept):
    units = np.asarray(private.units)[kept].tolist()
    return replace(private, x=private.x[kept], y=private.y[kept], units=units)


def test_codes_are_bins_of_the_released_edges_and_places_in_the_public_lists():
    x = np.array([[0, 0, -1], [24.9, 2, 0], [25, np.nan, 1], [100, 1, np.nan], [np.nan, 1, 0.49]], dtype=np.float32)
    private = Private(x, np.array([0, 1, 1, 0, 1]), list("abcde"), b"", PUBLIC)
    expected = {"0": [0, 0, 1, 2, 2], "1": [0, 2, 3, 1, 1], "2": [0, 1, 2, 1, 1], "target": [0, 1, 1, 0, 1]}
    pd.testing.assert_frame_equal(coded(private, EDGES, 3), pd.DataFrame(expected))
    assert counts(PUBLIC, EDGES, 3) == {"0": 3, "1": 4, "2": 3, "target": 2}


def test_a_number_target_is_cut_like_any_number():
    private = replace(table(RENTS, 3), y=np.array([0.0, 26.0, 50.0]))
    codes = coded(private, EDGES, 0)
    assert codes.to_dict("list") == {"target": [0, 1, 1]}
    assert counts(RENTS, EDGES, 0) == {"target": 2}
    _, y = restored(codes, RENTS, EDGES, np.random.default_rng(0))
    assert ((y >= [0, 10, 10]) & (y <= [10, 50, 50])).all()


@pytest.mark.parametrize(("public", "names"), [(PUBLIC, ["0", "2"]), (RENTS, ["0", "2", "target"])])
def test_edges_are_released_for_columns_of_numbers_alone_from_one_row_a_unit(public, names):
    private = table(public)
    private.units[1:] = ["one unit"] * 299
    centers = []
    edges = released_edges(private, 1.0, 8, 3, lambda center, sigma: centers.append(center) or center)
    assert list(edges) == names
    assert (centers[0][:, :2].sum(1) == 2).all()
    assert list(released_edges(private, 1.0, 8, 1, silent)) == names[:1] + names[2:]


def test_columns_without_numbers_need_no_edges():
    private = replace(table(), public=replace(PUBLIC, columns=COLUMNS[1:2]))
    assert released_edges(replace(private, x=private.x[:, 1:2]), 1.0, 8, 3) == {}


def test_removing_one_unit_takes_out_one_row_and_changes_no_other():
    private = table(size=40)
    private.units[3] = private.units[9] = private.units[20]
    whole = coded(private, EDGES, 3)
    assert len(whole) == 38
    for unit in set(private.units):
        left = coded(part(private, np.array([other != unit for other in private.units])), EDGES, 3)
        gone = next(place for place in range(38) if place == 37 or not whole.iloc[place].equals(left.iloc[place]))
        pd.testing.assert_frame_equal(whole.drop(index=gone).reset_index(drop=True), left)


@pytest.mark.parametrize("public", [PUBLIC, RENTS])
def test_records_of_codes_have_these_codes(public):
    private = table(public)
    private.x[:5] = np.nan
    edges = released_edges(private, 1.0, 7, 3)
    codes = coded(private, edges, 3)
    again, labels = restored(codes, public, edges, np.random.default_rng(3))
    assert again.dtype == np.float32
    assert labels.dtype == (np.int64 if public is PUBLIC else np.float64)
    assert np.isnan(again[:5, 1]).all()
    pd.testing.assert_frame_equal(coded(replace(private, x=again, y=labels), edges, 3), codes)


def test_a_number_is_uniform_within_its_bin():
    codes = pd.DataFrame({"0": np.full(4000, 1), "target": 0})
    x, _ = restored(codes, PUBLIC, EDGES, np.random.default_rng(0))
    shares = np.histogram(x[:, 0], bins=np.linspace(25, 50, 6))[0] / 4000
    assert shares.sum() == 1
    np.testing.assert_allclose(shares, 0.2, atol=0.03)


def test_columns_beyond_the_cap_are_drawn_from_public_facts_alone():
    private = table()
    private.x[:, 1:] = [2, 0.9]
    codes = coded(private, EDGES, 1)
    assert list(codes) == ["0", "target"]
    drawn, _ = restored(codes, PUBLIC, EDGES, np.random.default_rng(0))
    np.testing.assert_allclose(np.bincount(drawn[:, 1].astype(int)) / 300, 1 / 3, atol=0.1)
    np.testing.assert_allclose(np.histogram(drawn[:, 2], bins=4, range=(-1, 1))[0] / 300, 0.25, atol=0.1)
