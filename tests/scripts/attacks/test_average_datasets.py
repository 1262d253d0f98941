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
    inputs = [f"attacks={tmp_path / name}.parquet" for name in ("wine", "iris")]
    call(
        project,
        "attacks_average_datasets",
        inputs,
        [f"average={tmp_path / 'average.parquet'}"],
        published=published,
        records={"wine": 178, "iris": None},
    )
    table = tidy.expand(read_table(tmp_path / "average.parquet"))
    here, paper = (table[table["source"] == source] for source in ("here", "paper"))
    assert only(paper)[["table", "attack", "metric", "estimate"]].tolist() == ["Table 1", "lira", "auc", 0.73]
    assert only(table, metric="n")[["dataset", "attack", "estimate"]].tolist() == ["wine", "lira", 178]
    assert not here["attack"].str.contains("rmia").any()
    assert set(here["dataset"]) == {"mean of all tables"}
    assert set(here["arm"]) == {"main"}
    assert set(here["metric"]) == {"auc", "tpr@0.1", "auc difference", "tpr@0.1 difference"}
    mean = only(here, records="members", attack="lira", metric="auc")
    one = only(results[0], records="members", attack="lira", metric="auc")
    assert mean["estimate"] == pytest.approx(one["estimate"] + 0.05)
    below = np.maximum([one["estimate"] - one["low"], one["estimate"] + 0.1 - one["low"]], 0)
    assert mean["estimate"] - mean["low"] == pytest.approx(np.linalg.norm(below) / 2)
    assert mean["null"] == pytest.approx(one["null"])
    assert pd.isna(mean["table"])


def test_the_mean_is_over_the_papers_data_sets_that_the_run_has(project, tmp_path):
    values = {"wine": 0.6, "iris": 0.7, "digits": 0.95}
    keys = {"arm": "main", "model": "m", "records": "members", "threat": "t", "attack": "lira", "poison": 0}
    for name, auc in values.items():
        row = tidy.row("attacks", {"dataset": name, **keys}, "auc", auc, low=auc - 0.1, high=auc + 0.1, n=10, null=0.5)
        write_table(tidy.frame([row]), tmp_path / f"{name}.parquet")

    def averaged(listed):
        entries = [{"table": "Table 5", "dataset": name, "metric": "auc", "printed": 0.5} for name in (*listed, "mean")]
        inputs, output = (
            [f"attacks={tmp_path / name}.parquet" for name in values],
            f"average={tmp_path / 'average.parquet'}",
        )
        params = {"published": entries, "records": dict.fromkeys(values)}
        call(project, "attacks_average_datasets", inputs, [output], **params)
        table = tidy.expand(read_table(tmp_path / "average.parquet"))
        here, paper = (table[table["source"] == source] for source in ("here", "paper"))
        assert set(paper.loc[paper["dataset"] == "mean", "tables"]) == {f"{len(listed)} of {len(listed)}"}
        return {row.dataset: (row.estimate, row.n, row.tables) for row in here.itertuples()}

    two, three = (pytest.approx(0.65), 20), (pytest.approx(0.75), 30)
    every = (*three, "3 of 3")
    assert averaged(["wine", "iris"]) == {"mean": (*two, "2 of 2"), "mean of all tables": every}
    assert averaged(["wine", "iris", "vehicle"]) == {"mean": (*two, "2 of 3"), "mean of all tables": every}
    assert averaged([]) == {"mean of all tables": every}
    assert averaged(["wine", "vehicle"]) == {"mean": (pytest.approx(0.6), 10, "1 of 2"), "mean of all tables": every}
    assert averaged(values) == {"mean": every}


def test_model_families_are_averaged_where_every_compared_table_has_them(project, tmp_path):
    def rows(dataset, models):
        for model, auc in models.items():
            keys = {"dataset": dataset, "model": model, "attack": "strongest", "score": f"best in {dataset}"}
            leak, useful = {**keys, "records": "members"}, {**keys, "records": "non-members"}
            yield tidy.row("attacks", leak, "auc", auc, low=auc - 0.1, high=auc + 0.1, n=10, null=0.5)
            yield tidy.row("attacks", leak, "auc p-value", 0.05, unit="probability")
            yield tidy.row("attacks", useful, "log loss", 1.0, unit="nats", low=0.9, high=1.1, n=10)

    lira = {"arm": "main", "model": "m", "records": "members", "threat": "t", "attack": "lira", "poison": 0}
    inputs = []
    for dataset, models in {"wine": {"forest": 0.9, "deployed": 0.6}, "iris": {"forest": 0.7}}.items():
        row = tidy.row("attacks", {"dataset": dataset, **lira}, "auc", 0.6, low=0.5, high=0.7, n=10, null=0.5)
        write_table(tidy.frame([row]), tmp_path / f"{dataset}.parquet")
        write_table(tidy.frame(list(rows(dataset, models))), tmp_path / f"{dataset}-families.parquet")
        inputs += [f"attacks={tmp_path / dataset}.parquet", f"families={tmp_path / dataset}-families.parquet"]
    params = {"published": [], "records": {"wine": None, "iris": None}}
    outputs = [f"average={tmp_path / 'average.parquet'}", f"families={tmp_path / 'families.parquet'}"]
    call(project, "attacks_average_datasets", inputs, outputs, **params)
    table = tidy.expand(read_table(tmp_path / "families.parquet"))
    assert set(table["model"]) == {"forest"}
    mean = only(table, metric="auc")
    assert (mean["dataset"], mean["records"]) == ("mean of all tables", "members")
    assert mean["estimate"] == pytest.approx(0.8)
    assert mean["high"] - mean["estimate"] == pytest.approx(0.1 / np.sqrt(2))
    assert only(table, metric="log loss")["unit"] == "nats"
    assert set(table["metric"]) == {"auc", "log loss"}
