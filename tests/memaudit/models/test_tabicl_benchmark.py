"""The benchmark of the shipped TabICL models: tables, encodings, and scores on the same splits for all methods."""

from types import SimpleNamespace

import numpy as np
import pandas as pd

from memaudit.models.tabicl_benchmark import TABLES, compare, encoder, real_tables

PARAMS = SimpleNamespace(rows=60, splits=3, seed=0)


def test_missing_numbers_become_the_mean_and_categories_codes():
    table = pd.DataFrame({"x": [1.0, None, 3.0], "c": ["b", "a", "b"]})
    assert encoder(one_hot=False).fit_transform(table).tolist() == [[1, 1], [0, 2], [1, 3]]
    assert encoder(one_hot=True).fit_transform(table).tolist() == [[0, 1, 1], [1, 0, 2], [0, 1, 3]]
    unknown = encoder(one_hot=False).fit(table).transform(pd.DataFrame({"x": [0.0], "c": ["z"]}))
    assert unknown.tolist() == [[-1, 0]]


def test_every_method_gets_the_same_splits_and_rows():
    x, y = pd.DataFrame({"x": np.arange(100.0)}), pd.Series(np.arange(100) % 2)
    seen = {"one": [], "two": []}

    def method(name):
        def predict(context_x, context_y, query_x):
            seen[name].append((context_x["x"].tolist(), query_x["x"].tolist()))
            return query_x["x"].to_numpy() % 2

        return predict

    predictors = {name: method(name) for name in seen}
    scores = compare("toy", x, y, predictors, lambda true, predicted: float((true == predicted).mean()), PARAMS)
    assert scores == {"one": [1.0] * 3, "two": [1.0] * 3}
    assert seen["one"] == seen["two"]
    assert all(len(context) == len(query) == 30 for context, query in seen["one"])


def test_tables_of_a_folder_have_their_target_last(tmp_path):
    for name in TABLES["regression"]:
        table = pd.DataFrame({"a": [1.0, 2.0], "casual": [0, 1], "target": [5, 6]})
        table.assign(instant=0, dteday="d", registered=1)[
            ["instant", "dteday", "registered", "a", "casual", "target"]
        ].to_csv(tmp_path / f"{name}.csv.gz", index=False)
    tables = {name: (x, y) for name, x, y in real_tables("regression", tmp_path)}
    assert set(tables) == {"diabetes", *TABLES["regression"]}
    assert list(tables["bike_sharing_day"][0]) == ["a"]
    assert tables["abalone"][1].tolist() == [5.0, 6.0]
