"""Records are ranked by a planted vulnerability, and outliers leak."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from setting_grids import MEMBERS, RECORDS, SETS, arm, design, only, rows_of

from memaudit.common import tidy
from memaudit.common.io import write_json, write_table


@pytest.fixture
def outliers(tmp_path):
    """Members whose vulnerability score grows with their distance from all others, and what is known of them."""
    x = np.random.default_rng(0).standard_normal((RECORDS, 2))
    place = np.random.default_rng(1).permutation(MEMBERS)
    x[:MEMBERS] += np.where(place[:, None] % 2, 1, -1) * (np.maximum(place - 20, 0)[:, None]) ** 1.5
    gaps = np.zeros(RECORDS)
    gaps[:MEMBERS] = 4 * place / MEMBERS
    counts = design(2 * SETS)
    main = arm(tmp_path / "main.nc", rows_of("usual", gaps, counts))
    table = pd.DataFrame(x, columns=["a", "b"]).assign(colour="red", note="a text")
    table["id"] = [f"r{i:02d}" for i in range(RECORDS)]
    table["target"] = np.where(np.arange(RECORDS) % 2, "yes", "no")
    write_table(table.sample(frac=1, random_state=0), tmp_path / "records.parquet")
    kinds = {"a": "numeric", "b": "numeric", "colour": "categorical", "note": "text"}
    columns = [{"name": name, "type": kind} for name, kind in kinds.items()]
    columns[2]["categories"] = ["red"]
    target = {"name": "target", "type": "categorical", "categories": ["no", "yes"]}
    write_json({"columns": columns, "target": target, "task": "classification"}, tmp_path / "schema.json")
    return SimpleNamespace(gaps=gaps, inputs=[f"main={main}", "records=records.parquet", "schema=schema.json"])


def test_records_are_ranked_by_vulnerability_and_outliers_leak(outliers, run):
    outputs = ["tidy=tidy.parquet", "ranks=ranks.parquet", "map=map.parquet"]
    results, ranks, points = run("attacks_rank_records", outliers.inputs, outputs)
    results, points = tidy.expand(results), tidy.expand(points)

    assert list(ranks["rank"]) == list(range(MEMBERS))
    assert ranks["vulnerability"].is_monotonic_decreasing
    planted = outliers.gaps[ranks["id"].str[1:].astype(int)]
    assert np.corrcoef(ranks["vulnerability"], planted)[0, 1] > 0.9

    distance = only(results, "spearman", predictor="neighbour distance")
    assert distance["estimate"] > 0.6
    assert only(results, "spearman detected", predictor="neighbour distance")["estimate"] == 1
    assert only(results, "spearman", predictor="isolation forest")["estimate"] > 0.5
    assert np.isnan(only(results, "spearman", predictor="frequency of the class")["estimate"])
    quartiles = [only(results, "auc", quartile=number)["estimate"] for number in (1, 2, 3, 4)]
    assert quartiles[3] > 0.9
    assert quartiles[3] > max(quartiles[:2]) + 0.1

    assert set(points["metric"]) == {"distance", "vulnerability"}
    scores = points[points["metric"] == "vulnerability"].set_index("point")
    np.testing.assert_allclose(scores["estimate"].sort_index(), ranks["vulnerability"])
    assert (scores["low"] < scores["estimate"]).all()


def test_the_map_names_no_record(outliers, run):
    _, ranks, points = run(
        "attacks_rank_records", outliers.inputs, ["tidy=tidy.parquet", "ranks=ranks.parquet", "map=map.parquet"]
    )
    assert not points.astype(str).apply(lambda column: column.str.contains("|".join(ranks["id"]))).any(axis=None)
    assert set(tidy.expand(points).columns) >= {"dataset", "point", "class"}


def test_the_loss_outside_does_not_predict_a_vulnerability_that_all_records_share(outliers, run, tmp_path):
    """From the same shadow sets it would: a mean that is low by chance raises both."""
    found = []
    for seed in range(4):
        arm(tmp_path / "main.nc", rows_of("usual", 1.0, design(2 * SETS, seed), seed=seed))
        outputs = ["tidy=tidy.parquet", "ranks=ranks.parquet", "map=map.parquet"]
        results, *_ = run("attacks_rank_records", outliers.inputs, outputs)
        found.append(only(tidy.expand(results), "spearman", predictor="loss without the record")["estimate"])
    assert abs(np.mean(found)) < 0.2
