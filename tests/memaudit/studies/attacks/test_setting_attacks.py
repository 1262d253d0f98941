"""Variants of the contexts: which are attacked for membership, on which records, with how many columns."""

import numpy as np
import pytest
import xarray as xr

from memaudit.common.io import write_grid
from memaudit.studies.attacks import setting_attacks

RECORDS, FEATURES = 12, ["a", "b", "c"]


def grid(name, counts, gap=0.0):
    """Shadow contexts of one variant with two classes; the last two records are non-members."""
    rng = np.random.default_rng([*map(ord, name)])
    counts = np.asarray(counts, dtype=np.uint8)
    logits = rng.normal(size=(*counts.shape, 2))
    logits[..., 0] += gap * (counts > 0)
    of_record = {"label": np.zeros(RECORDS, int), "unit": np.arange(RECORDS), "member": np.arange(RECORDS) < 10}
    coordinates = {key: ("record", values) for key, values in of_record.items()}
    coordinates |= {"variant": ("model", [name] * len(counts)), "feature": FEATURES}
    coordinates |= {"record": [f"r{i:02d}" for i in range(RECORDS)]}
    data = {"logits": (("model", "record", "class"), logits), "counts": (("model", "record"), counts)}
    return xr.Dataset(data, coordinates, {"dataset": "toy"}).assign(design=(("model", "record"), counts > 0))


def halves(models=16, members=10):
    counts = np.zeros((models, RECORDS))
    counts[:, :members] = np.random.default_rng(0).random((models, members)).argsort(0) < models // 2
    return counts


def test_variants_for_property_inference_and_mitigations_are_not_attacked(tmp_path):
    names = ["usual", "context 4", "shares 0.5 0.7", "bags 3"]
    parts = [grid(name, halves()).drop_vars("design") for name in names]
    write_grid(xr.concat(parts, "model", data_vars="minimal"), tmp_path / "grid.nc")
    found = dict(setting_attacks.membership_variants([str(tmp_path / "grid.nc")], 6))
    assert list(found) == ["usual", "context 4"]
    assert found["usual"].sizes["model"] == 6
    assert not dict(setting_attacks.membership_variants(None, 6))


def test_a_variant_has_the_columns_it_keeps_but_no_more_than_the_table():
    usual = grid("usual", halves())
    assert [setting_attacks.number_of_columns(name, usual) for name in ("usual", "features 2", "features 8")] == [
        3,
        2,
        3,
    ]


def test_shared_records_are_in_all_populations_or_duplicated_in_some_context():
    usual, small = grid("usual", halves()), grid("context 2", halves(members=4))
    assert list(setting_attacks.shared_records({"context 2": small}, usual, "context")) == ["r00", "r01", "r02", "r03"]
    twice = halves() * np.where(np.arange(RECORDS) < 3, 2, 1)
    copied = setting_attacks.shared_records({"copies 2": grid("copies 2", twice)}, usual, "copies")
    assert list(copied) == ["r00", "r01", "r02"]


def test_auc_by_columns_attacks_as_many_contexts_of_each_and_ends_with_the_usual():
    usual = grid("usual", halves(32), gap=6.0)
    variants = {"features 1": grid("features 1", halves()), "features 8": grid("features 8", halves())}
    numbers, aucs, sets = setting_attacks.auc_by_columns(variants, usual)
    assert (numbers, sets) == ([1, 3], 16)
    assert aucs[0] == pytest.approx(0.5, abs=0.15)
    assert aucs[1] > 0.95
