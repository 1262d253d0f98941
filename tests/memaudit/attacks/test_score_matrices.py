"""Grids of several variants: shards, variants, and what their cells say."""

from types import SimpleNamespace

import numpy as np
import pytest
import xarray as xr

from memaudit.attacks.score_matrices import attackable, confidence, gather, of_input, stable, threshold_signals, variant
from memaudit.common.errors import AuditError
from memaudit.common.io import write_grid
from memaudit.workflow.job import Paths


@pytest.fixture
def grid():
    """Two variants of two sets; the second variant asks about the first two of three records alone."""
    logits = np.log(np.array([0.8, 0.2], dtype=np.float32)) * np.ones((4, 3, 1), dtype=np.float32)
    logits[2:, 2] = np.nan
    counts = np.array([[1, 0, 0], [0, 5, 0], [1, 1, 0], [0, 0, 0]], dtype=np.uint8)
    return xr.Dataset(
        {"logits": (("model", "record", "class"), logits), "counts": (("model", "record"), counts)},
        {
            "variant": ("model", ["usual", "usual", "context 8", "context 8"]),
            "record": ["a", "b", "c"],
            "label": ("record", [0, 1, 0]),
            "member": ("record", [True, True, False]),
        },
        {"dataset": "toy", "forward_passes": 2},
    )


def test_shards_are_put_together_in_order_with_the_passes_of_all(grid, tmp_path):
    paths = [str(tmp_path / f"{number}.nc") for number in range(2)]
    for path, rows in zip(paths, (slice(0, 1), slice(1, 4)), strict=True):
        write_grid(grid.isel(model=rows), path)
    whole = gather(paths)
    xr.testing.assert_equal(whole, grid)
    assert whole.counts.dtype == np.uint8
    assert whole.forward_passes == 4
    assert gather(paths[0]).sizes["model"] == 1


def test_a_variant_has_its_sets_and_the_records_that_it_asks_about(grid):
    small = variant(grid, "context 8")
    assert small.record.values.tolist() == ["a", "b"]
    assert small.design.values.tolist() == [[True, True], [False, False]]
    assert variant(grid, "usual").design.dtype == np.bool_


def test_the_confidence_is_in_the_true_label(grid):
    found = confidence(variant(grid, "usual"))
    assert found[0].tolist() == pytest.approx([np.log(4), -np.log(4), np.log(4)], rel=1e-6)


def test_members_that_stand_in_some_context_can_be_attacked(grid):
    usual = variant(grid, "usual")
    assert attackable(usual).tolist() == ["a", "b"]
    assert attackable(usual.isel(model=[0])).tolist() == ["a"]


def test_a_missing_input_is_named():
    job = SimpleNamespace(input=Paths(["main=main.nc"]), wildcards=SimpleNamespace(dataset="toy"))
    with pytest.raises(AuditError, match="attacks, data set toy: no input is called settings; give settings=PATH"):
        of_input(job, "settings")


def test_inputs_of_one_name_are_a_list_and_a_single_one_is_a_path():
    paths = Paths(["main=0.nc", "main=1.nc", "model=model.json"])
    assert paths.main == ["0.nc", "1.nc"]
    assert paths.get("model") == "model.json"
    assert paths == ["0.nc", "1.nc", "model.json"]


def test_one_setting_of_a_perturbed_grid_is_found_and_another_is_named():
    values = np.arange(4.0).reshape(1, 2, 2)
    settings = {"scale": ("setting", [0.1, 0.2]), "count": ("setting", [50, 50])}
    perturbed = xr.Dataset({"stable": (("model", "record", "setting"), values)}, settings, {"dataset": "toy"})
    assert stable(perturbed, 0.2, 50).tolist() == [[1.0, 3.0]]
    with pytest.raises(AuditError, match=r"data set toy: the perturbed grid has no 10 copies at scale 0\.2"):
        stable(perturbed, 0.2, 10)


def test_certain_answers_and_unknown_classes_have_finite_thresholds():
    """Wrong for certain, right for certain, and a class that the context does not have."""
    logits = np.array([[[-500, 500, 0], [500, -500, 0], [-np.inf, 1, 0]]])
    grid = xr.Dataset({"logits": (("model", "record", "class"), logits)}, {"label": ("record", [0, 0, 0])})
    for name, values in threshold_signals(grid).items():
        assert np.isfinite(values).all(), name
        if name not in ("confidence", "entropy"):
            assert values[0, 1] > values[0, 0], name
