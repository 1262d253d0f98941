"""Means over data sets beside the published numbers."""

import numpy as np
import pandas as pd
import pytest
from attack_grids import call, only

from memaudit.common import tidy
from memaudit.common.io import read_table, write_table


def test_means_are_over_what_every_data_set_has_beside_what_is_printed(project, grids, results, tmp_path):
    folder, _ = grids
    first = read_table(folder / "attacks.parquet")
    second = first.assign(setting=first["setting"].str.replace("wine", "iris"), estimate=first["estimate"] + 0.1)
    second = second[~second["setting"].str.contains("rmia")]
    for name, table in {"wine": first, "iris": second}.items():
        write_table(table, tmp_path / f"{name}.parquet")
    published = [
        {"table": "Table 1", "dataset": "mean", "attack": "lira", "poison": 0, "metric": "auc", "printed": 0.73}
    ]
    inputs = [str(tmp_path / f"{name}.parquet") for name in ("wine", "iris")]
    call(
        project,
        "attacks_average_datasets",
        inputs,
        [str(tmp_path / "average.parquet")],
        published=published,
        records={"wine": 178, "iris": None},
    )
    table = tidy.expand(read_table(tmp_path / "average.parquet"))
    here, paper = (table[table["source"] == source] for source in ("here", "paper"))
    assert only(paper)[["table", "attack", "metric", "estimate"]].tolist() == ["Table 1", "lira", "auc", 0.73]
    assert only(table, metric="n")[["dataset", "attack", "estimate"]].tolist() == ["wine", "lira", 178]
    assert not here["attack"].str.contains("rmia").any()
    assert set(here["dataset"]) == {"mean"}
    assert set(here["arm"]) == {"main"}
    assert set(here["metric"]) == {"auc", "tpr@0.1", "auc difference"}
    mean = only(here, records="members", attack="lira", metric="auc")
    one = only(results[0], records="members", attack="lira", metric="auc")
    assert mean["estimate"] == pytest.approx(one["estimate"] + 0.05)
    below = np.maximum([one["estimate"] - one["low"], one["estimate"] + 0.1 - one["low"]], 0)
    assert mean["estimate"] - mean["low"] == pytest.approx(np.linalg.norm(below) / 2)
    assert mean["null"] == pytest.approx(one["null"])
    assert pd.isna(mean["table"])
