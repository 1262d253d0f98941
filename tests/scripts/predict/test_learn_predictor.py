"""The learned predictor's files from trained settings; a setting alone is not judged."""

import json
import shutil

import numpy as np
import pandas as pd
import pytest
from conftest import load_script
from predict_pipeline import job

from memaudit.common.errors import AuditError
from memaudit.common.io import read_grid, write_grid
from memaudit.common.tidy import COLUMNS, expand

pytestmark = pytest.mark.usefixtures("one_thread")
PARAMS = {"memorized": 0.5, "replicates": 20, "sources": {"toy": "table", "other": "another"}}


def learned(given, folder):
    made = {"tidy": folder / "learned.parquet", "recommended": folder / "recommended.json"}
    facts = load_script("predict_learn_predictor").main(job(given, made, PARAMS, "predict_learn_predictor"))
    assert facts == {"seed": 3}
    tidy = pd.read_parquet(made["tidy"])
    assert list(tidy) == list(COLUMNS)
    return expand(tidy), json.loads(made["recommended"].read_text())


def renamed(path, folder, change=lambda grid: grid):
    """A copy of a grid as that of another setting."""
    write_grid(change(read_grid(path).assign_attrs(case="other")), folder / path.name)
    return folder / path.name


def test_one_setting_alone_has_a_row_that_says_so(run, tmp_path):
    rows, recommended = learned(run.given, tmp_path)
    assert rows["metric"].tolist() == ["memorized"]
    assert rows["judged"].tolist() == ["no"]
    assert rows["method"][0].startswith("not judged: ")
    assert recommended == []


def test_files_of_several_settings_are_told_apart_by_their_own_names(run, tmp_path):
    (tmp_path / "other").mkdir()
    others = [renamed(path, tmp_path / "other") for path in run.given["signals"]]
    given = {
        "records": [run.given["records"], renamed(run.given["records"], tmp_path / "other")],
        "scores": [run.given["scores"], renamed(run.given["scores"], tmp_path / "other")],
        "signals": [others[0], *run.given["signals"], others[1]],
    }
    rows, _ = learned(given, tmp_path)
    shares = rows[rows["metric"] == "memorized"].set_index("case")
    assert set(shares.index) == {"toy", "other"}
    assert shares.loc["toy", "estimate"] == shares.loc["other", "estimate"]


def test_missing_models_are_named(run, tmp_path):
    with pytest.raises(AuditError, match="toy: 8 of 16 models; train the others, too"):
        learned(run.given | {"signals": run.given["signals"][0]}, tmp_path)
    lost = tmp_path / "lost.nc"
    shutil.copy(run.given["signals"][0], lost)
    write_grid(read_grid(lost).assign_attrs(case="else"), lost)
    with pytest.raises(AuditError, match="toy: no file of signals is given"):
        learned(run.given | {"signals": lost}, tmp_path)
    assert np.array(read_grid(lost).model).size == 8
