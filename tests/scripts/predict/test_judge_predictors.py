"""The evaluation of predictors: all models, and recommendations that rank a user's records."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from conftest import load_script
from predict_pipeline import JUDGED, job

from memaudit.common.errors import AuditError
from memaudit.common.io import read_grid, read_json, write_json

pytestmark = pytest.mark.usefixtures("one_thread")


def test_recommendations_rank_a_users_own_records(run, table, tmp_path):
    """The JSON of one script is the input of the other, which refuses what two models cannot tell from chance."""
    settings = read_json(run.judged["recommended"])
    assert [setting["profile"] for setting in settings] == ["practitioners", "researchers"]
    assert settings[0]["case"] == "toy"
    records, states = read_grid(run.ready["records"]), xr.load_dataset(run.folder / "0.states.nc")
    own = records.membership.values[0].astype(bool)
    frame = pd.DataFrame({"id": records.record.values[own], "label": records.code.values[own].astype(str)})
    frame.to_parquet(tmp_path / "own.parquet")
    np.save(tmp_path / "states.npy", states["target0_layer1"].values[8][own])
    given = {"records": tmp_path / "own.parquet", "states": tmp_path / "states.npy"}
    made = {"ranked": tmp_path / "r.parquet", "csv": tmp_path / "r.csv", "page": tmp_path / "r.md"}
    params = {"directions": 200, "accuracy": None, "dimensions": 500, "classes": None}
    params["predictor"] = "psmi"
    rank = load_script("predict_rank_own").main
    with pytest.raises(AuditError, match="no more was memorized there than by chance"):
        rank(job(given | {"results": run.judged["recommended"]}, made, params))
    settings[0]["memorized"] |= {"beyond_chance": 0.02}  # as of more target models
    write_json(settings, tmp_path / "recommended.json")
    rank(job(given | {"results": tmp_path / "recommended.json"}, made, params))
    ranked = pd.read_parquet(tmp_path / "r.parquet")
    wrong = set(records.record.values[own & records.mislabelled.values.astype(bool)])
    assert len(wrong & set(ranked["id"][: 2 * len(wrong)])) > len(wrong) / 2


def test_missing_models_are_refused(run, tmp_path):
    given = run.given | {"signals": run.folder / "0.nc"}
    with pytest.raises(AuditError, match="toy: 8 of 16 models"):
        load_script("predict_judge_predictors").main(job(given, run.judged, run.params | JUDGED, case="toy"))
