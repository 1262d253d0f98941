"""Predicted and measured TPR of a population: two Gaussian grids whose records leak alike."""

import numpy as np
import xarray as xr
from lira_grids import call, results

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
