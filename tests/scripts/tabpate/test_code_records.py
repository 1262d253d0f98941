"""Codes of the private records: a sample for each repeat, within the public number of codes of each column."""

import pytest
from tabpate_tables import RECORDS, ROLES, call, files

from memaudit.common.io import read_json, read_table
from memaudit.studies.tabpate.evaluation_tables import open_table


def code(folder, held_out=False, by_epsilon=None, **settings):
    outputs = [f"codes={folder / 'codes.parquet'}", f"bins={folder / 'bins.json'}"]
    params = {"seed": 1, "repeats": 2, "roles": ROLES, "delta": 1e-5, "epsilons": [1.0, 10.0]}
    settings = {"bins": 5, "bins_share": 0.2, "columns": 6} | settings
    arm = {"held_out": held_out, "settings": settings, "by_epsilon": by_epsilon or {}}
    call("tabpate_code_records", files(folder), outputs, **params, arm=arm)
    return read_table(folder / "codes.parquet"), read_json(folder / "bins.json")


def test_every_epsilon_and_repeat_has_one_row_for_each_private_unit_and_bins_of_its_own(world):
    codes, bins = code(world)
    table = open_table(*(world / name for name in ("records.parquet", "schema.json", "towns.yaml", "key")))
    for repeat in range(2):
        units = set(table.private(table.roles(ROLES, 1, repeat), ROLES, False).units)
        for epsilon in (1.0, 10.0):
            sample = codes[(codes["seed"] == repeat) & (codes["epsilon"] == epsilon)]
            assert len(sample) == len(units) < RECORDS / 2
            facts = bins[str(epsilon)][str(repeat)]
            assert 0.8 * epsilon < facts["epsilon"] < epsilon, "a fifth of rho is spent"
            assert facts["counts"]["target"] == 2
            for name, count in facts["counts"].items():
                assert sample[name].between(0, count - 1).all()
                assert name == "target" or len(facts["edges"][name]) == count + 1 <= 6


def test_an_epsilon_may_have_settings_of_its_own(world):
    codes, bins = code(world, by_epsilon={"10": {"columns": 1, "bins": 3}})
    first, second = (list(bins[epsilon]["0"]["counts"]) for epsilon in ("1.0", "10.0"))
    assert (first, second) == (["0", "1", "target"], ["0", "target"])
    assert codes[codes["epsilon"] == 10]["1"].isna().all()
    assert codes[codes["epsilon"] == 1].notna().all(axis=None)
    assert bins["10.0"]["0"]["counts"]["0"] <= 3


def test_held_out_records_are_in_no_sample_where_they_are_public(world):
    every, kept = code(world)[0], code(world, held_out=True)[0]
    assert len(kept) < len(every)


@pytest.mark.parametrize("columns", [0, 1])
def test_columns_beyond_the_first_are_left_out(world, columns):
    codes, bins = code(world, columns=columns)
    assert list(bins["1.0"]["0"]["counts"]) == [*map(str, range(columns)), "target"]
    assert set(codes) == {*bins["1.0"]["0"]["counts"], "seed", "epsilon"}
