"""Predicted and measured TPR of a population: two Gaussian grids whose records leak alike."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from conftest import PROJECT
from lira_grids import call, results

from memaudit.claims.claim_predicates import load
from memaudit.claims.verdicts import verdicts
from memaudit.common.io import write_grid

CONTEXT, TARGETS = 10, 40


def grid(path, models, records, population, gap):
    rng = np.random.default_rng(len(path.name))
    design = rng.random((models, len(records))).argsort(1) < CONTEXT
    signal = rng.normal(size=design.shape) + gap * design
    arrays = {"signal": (("model", "record"), signal.astype(np.float32)), "design": (("model", "record"), design)}
    coordinates = {"record": records, "unit": ("record", np.arange(len(records)))}
    write_grid(xr.Dataset(arrays, coordinates, {"dataset": "wine", "population": population}), path)


def test_prediction_and_measurement_agree_where_the_signal_does_not_depend_on_companions(tmp_path):
    records = [f"{number:04x}" for number in range(TARGETS)]
    grid(tmp_path / "population.nc", 800, records, 4000, 1.5)
    grid(tmp_path / "superset0.nc", 800, records, 4000, 1.5)
    inputs = [f"population={tmp_path}/population.nc", tmp_path / "superset0.nc"]
    call("lira_predict_population", inputs, [tmp_path / "p.parquet"], fpr=[0.1], context=CONTEXT, replicates=20)
    rows = results(tmp_path / "p.parquet").set_index(["corrected", "metric"]).estimate
    # Phi(1.5 - 1.28) = .587; the measured FPR is the nominal one.
    assert abs(rows["measured", "measured_tpr"] - 0.587) < 0.03
    assert abs(rows["measured", "measured_fpr"] - 0.1) < 0.02
    for corrected in ("true", "false"):
        assert abs(rows[corrected, "predicted_minus_measured"]) < 0.05


SIZE = 50  # records of a context, of 100 in a superset and of 2,000 in the population


def write_gaussian_means(path, x, models, rng):
    """A grid of the paper's Gaussian mean simulation (Section 6.2): a model is the mean of SIZE of the records x."""
    signals, members = [], []
    for _ in range(models // 512):
        chosen = rng.random((512, len(x))).argpartition(SIZE, axis=1)[:, :SIZE]
        design = np.zeros((512, len(x)), dtype=bool)
        np.put_along_axis(design, chosen, True, axis=1)
        signals.append((design @ x / SIZE) @ x[: 2 * SIZE].T)
        members.append(design[:, : 2 * SIZE])
    cells = ("model", "record")
    arrays = {"signal": (cells, np.concatenate(signals).astype(np.float32)), "design": (cells, np.concatenate(members))}
    names = [f"{number:04x}" for number in range(2 * SIZE)]
    coordinates = {"record": names, "unit": ("record", np.arange(2 * SIZE))}
    write_grid(xr.Dataset(arrays, coordinates, {"dataset": "wine", "population": len(x)}), path)


@pytest.mark.long
@pytest.mark.parametrize(("tail", "optimistic"), [(0.0, {"reproduced"}), (1.0, {"not testable at this scale"})])
def test_section_5_1_is_judged_right_where_the_truth_is_known(tmp_path, tail, optimistic):
    """Both sentences are true of the Gaussian mean. No draw is judged to show the opposite, and with normal signals
    every one shows the optimism; where a few records are far larger than others, signals are not normal, and the
    condition on the realised FPR leaves settings out. Of 12 draws of either kind none was judged wrong; of the normal
    ones 12 showed the optimism, and 2 that the correction is right within .02: the others cannot tell.
    """
    ids = ["lira-small-superset-is-optimistic", "lira-correction-predicts-the-population"]
    claims = [claim for claim in load(PROJECT / "config/claims.yaml") if claim.id in ids]
    assert [claim.id for claim in claims] == ids
    for seed in range(2):
        rng = np.random.default_rng(seed)
        x = rng.standard_normal((2000, 60)) * np.exp(tail * rng.standard_normal((2000, 1)))
        write_gaussian_means(tmp_path / "population.nc", x, 4096, rng)
        write_gaussian_means(tmp_path / "superset0.nc", x[: 2 * SIZE], 1024, rng)
        inputs = [f"population={tmp_path}/population.nc", tmp_path / "superset0.nc"]
        call("lira_predict_population", inputs, [tmp_path / "p.parquet"], fpr=[0.1, 0.01], context=SIZE, replicates=200)
        found = verdicts(claims, pd.read_parquet(tmp_path / "p.parquet")).verdict
        assert found[0] in optimistic
        assert found[1] != "not reproduced"
