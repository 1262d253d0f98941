"""Means over data sets by task, beside the published numbers."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from tabpate_tables import FACTS, RECORDS, answers, call, only, results, utility

from memaudit.common.io import read_table, write_grid, write_table

pytestmark = pytest.mark.usefixtures("one_thread")


def test_numbers_are_measured_by_their_error_and_means_are_taken_by_task(table):
    answers(table)
    (table / "other").mkdir()
    truth = np.arange(RECORDS) / RECORDS
    records = pd.DataFrame({"id": [f"r{i:02d}" for i in range(RECORDS)], "target": truth})
    write_table(records, table / "other/records.parquet")
    (table / "other/towns.yaml").write_text(FACTS.format(task="regression", target="[0, 0.5]"))
    tested = np.arange(RECORDS) % 4 == 0
    predicted = np.where(tested, [[truth.mean()], [truth.mean()]] * np.ones(RECORDS), np.nan)
    coords = {"arm": ("release", ["as_published", "non_private"]), "epsilon": ("release", [1.0, np.inf])}
    grid = xr.Dataset({"answers": (("release", "record"), predicted)}, coords | {"record": list(records["id"])})
    grid = grid.assign_coords(repeat=("release", [0, 0])).assign(
        asked=("release", [4, 0]), answered=("release", [4, 0])
    )
    write_grid(grid, table / "other/answers.nc")
    numbers, classes = utility(table / "other", "answers"), utility(table, "answers")
    assert set(numbers["metric"]) == {"nrmse", "nrmse difference", "asked", "answered", "constant students"}
    assert only(numbers, arm="as_published", metric="nrmse")["estimate"] == pytest.approx(1, abs=0.01)
    assert only(numbers, arm="mean", metric="nrmse")["approach"] == "mean"
    paths = [table / "utility.parquet", table / "again.parquet", table / "other/utility.parquet"]
    first = read_table(paths[0])
    again = first.assign(setting=first["setting"].str.replace("towns", "cities"), estimate=first["estimate"] + 0.1)
    third = read_table(paths[2])
    write_table(again[~again["setting"].str.contains("arm=other,")], paths[1])
    write_table(third.assign(setting=third["setting"].str.replace("towns", "farms")), paths[2])
    printed = {"table": "Table 2", "dataset": "mean", "approach": "tabpate", "epsilon": 10, "metric": "accuracy"}
    printed |= {"task": "classification", "printed": 0.712}
    listed = [printed | {"table": "Table 13", "dataset": name} for name in ("towns", "cities", "villages")]
    listed += [printed | {"table": "Table 3", "dataset": "farms", "task": "regression"}]
    inputs = [str(path) for path in paths]
    call("tabpate_average_datasets", inputs, [table / "mean.parquet"], published=[printed, *listed])
    found = results(table / "mean.parquet")
    here, paper = found[found["source"] == "here"], found[found["source"] == "paper"]
    assert only(paper, dataset="mean")[["estimate", "tables"]].tolist() == [0.712, "3 of 3"]
    mean = only(here, arm="as_published", metric="accuracy")
    one = only(classes, arm="as_published", metric="accuracy")
    assert mean["estimate"] == pytest.approx(one["estimate"] + 0.05)
    assert (mean["epsilon"], mean["task"], mean["dataset"]) == (1, "classification", "mean")
    low = [one["estimate"] - one["low"], max(0, one["estimate"] + 0.1 - one["low"])]
    assert mean["estimate"] - mean["low"] == pytest.approx(np.linalg.norm(low) / 2)
    assert only(here, arm="as_published", metric="nrmse")["task"] == "regression"
    assert only(here, arm="as_published - non_private", metric="accuracy difference")["null"] == 0
    assert (mean["tables"], only(here, arm="as_published", metric="nrmse")["tables"]) == ("2 of 3", "1 of 1")
    alone = only(here, arm="other", metric="accuracy")
    assert alone["tables"] == "1 of 3", "averaged over the one table that has it, and says so"
    assert alone["estimate"] == pytest.approx(only(classes, arm="other", metric="accuracy")["estimate"])
    call("tabpate_average_datasets", inputs, [table / "mean.parquet"], published=[printed, *listed[1:]])
    mean = only(results(table / "mean.parquet"), source="here", arm="as_published", metric="accuracy")
    assert mean["tables"] == "1 of 2", "a table that the paper's mean does not have is not averaged"
    assert only(here, arm="as_published", metric="asked", task="regression")["unit"] == "records"
