"""Codes of the private records: a sample for each repeat, within the public number of codes of each column."""

import pytest
from tabpate_tables import RECORDS, ROLES, call, files

from memaudit.common.io import read_json, read_table
from memaudit.studies.tabpate.evaluation_tables import open_table


def code(folder, held_out=False, **settings):
    outputs = [f"codes={folder / 'codes.parquet'}", f"counts={folder / 'counts.json'}"]
    params = {"seed": 1, "repeats": 2, "held_out": held_out, "roles": ROLES}
    call("tabpate_code_records", files(folder), outputs, **params, settings={"bins": 5, "columns": 6} | settings)
    return read_table(folder / "codes.parquet"), read_json(folder / "counts.json")


def test_every_repeat_has_one_row_for_each_private_unit(world):
    codes, counts = code(world)
    table = open_table(*(world / name for name in ("records.parquet", "schema.json", "towns.yaml", "key")))
    for repeat in range(2):
        units = set(table.private(table.roles(ROLES, 1, repeat), ROLES, False).units)
        assert (codes["seed"] == repeat).sum() == len(units) < RECORDS / 2
    assert counts == {"0": 5, "1": 5, "target": 2}
    for name, count in counts.items():
        assert codes[name].between(0, count - 1).all()


def test_held_out_records_are_in_no_sample_where_they_are_public(world):
    every, kept = code(world)[0], code(world, held_out=True)[0]
    assert len(kept) < len(every)


@pytest.mark.parametrize("columns", [0, 1])
def test_columns_beyond_the_first_are_left_out(world, columns):
    codes, counts = code(world, columns=columns)
    assert list(counts) == [*map(str, range(columns)), "target"]
    assert set(codes) == {*counts, "seed"}
