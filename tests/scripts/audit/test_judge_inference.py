"""Planted answers of a regressor of points: judged with the controls, and without an adversary who needs classes."""

import numpy as np
import xarray as xr
from attack_grids import call

from memaudit.auditing.summaries import summarize_inference
from memaudit.common.io import read_table, write_grid, write_json
from memaudit.data import membership_matrices

MODELS, RECORDS = 16, 40


def test_a_regressor_of_points_is_judged(tmp_path, project):
    rng = np.random.default_rng(0)
    design = membership_matrices.balanced(MODELS, RECORDS, rng, 8)
    truth = rng.integers(0, 3, RECORDS)
    error = rng.normal(size=(MODELS, 1, RECORDS, 3)) * np.where(
        design[:, None, :, None] & (truth[:, None] == np.arange(3)), 0.1, 3.0
    )
    dimensions = ("model", "question", "record", "level")
    grid = xr.Dataset({"own": (dimensions, np.full(error.shape, np.nan)), "other": (dimensions, error)})
    grid["design"] = ("model", "record"), design
    grid["bin"], grid["truth"] = (("question", "level"), [[0, 1, 2]]), (("question", "record"), truth[None])
    for name in ("prior_known", "prior_unknown"):
        grid[name] = ("question", "record", "bin_number"), np.full((1, RECORDS, 3), 1 / 3)
    coords = {"question": ["c0"], "unit": ("record", np.arange(RECORDS)), "record": np.arange(RECORDS).astype(str)}
    grid = grid.assign_coords(coords | {"model": np.arange(MODELS)}).assign_attrs(draw="balanced", block=8)
    write_grid(grid, tmp_path / "candidates.nc")
    write_json({"task": "regression"}, tmp_path / "schema.json")
    inputs = [f"candidates={tmp_path / 'candidates.nc'}", f"schema={tmp_path / 'schema.json'}"]
    attacks = {"replicates": 20, "permutations": 19}
    call(project, "audit_judge_inference", inputs, [str(tmp_path / "found.parquet")], seed=1, attacks=attacks)
    found = summarize_inference.inference(read_table(tmp_path / "found.parquet"), {"c0": "wage"})
    assert [one.adversary for one in found.questions[0].adversaries] == ["calibrated", "likelihood"]
    assert all(one.detected for one in found.questions[0].adversaries)
    assert all(one.lookup_found for one in found.questions[0].adversaries)
    assert not found.failed()
