"""Means over data sets: values and intervals by hand, incomplete combinations, missing keys, published numbers."""

import numpy as np
import pandas as pd
import pytest

from memaudit import tidy
from memaudit.statistics.dataset_means import means, published


def scores(**missing):
    rows = [
        tidy.row(
            "demo", {"dataset": name, **keys}, "auc", estimate, low=estimate - 0.1, high=estimate + 0.2, n=10, null=0.5
        )
        for name, estimate in (("wine", 0.6), ("iris", 0.8))
        for keys in ({"attack": "lira", "tau": 0.5}, {"attack": "loss"})
        if (name, keys["attack"]) not in missing.get("without", ())
    ]
    return tidy.expand(tidy.frame(rows))


def averaged(table, complete=2):
    found = means("demo", table, ["attack", "tau"], "dataset", complete, "data sets")
    return pd.DataFrame(found).set_index("setting")


def test_mean_and_interval_by_hand_and_missing_keys_are_left_out():
    found = averaged(scores())
    assert found.index.tolist() == [
        "source=here, dataset=mean, attack=lira, tau=0.5",
        "source=here, dataset=mean, attack=loss",
    ]
    one = found.iloc[0]
    assert one[["estimate", "n", "null"]].tolist() == [pytest.approx(0.7), 20, 0.5]
    assert one["low"] == pytest.approx(0.7 - 0.1 / np.sqrt(2))
    assert one["high"] == pytest.approx(0.7 + 0.2 / np.sqrt(2))
    assert one["method"].startswith("mean of 2 data sets taken as given")


def test_combinations_that_some_data_set_lacks_are_left_out():
    table = scores(without=[("iris", "loss")])
    assert averaged(table).index.str.contains("lira").tolist() == [True]
    assert len(averaged(table, {"lira": 2, "loss": 1})) == 2


def test_a_published_number_has_its_keys_and_no_interval():
    row = published("demo", "auc", 0.73, table="Table 1", dataset="mean")
    assert (row["setting"], row["estimate"]) == ("source=paper, table=Table 1, dataset=mean", 0.73)
    assert np.isnan([row["low"], row["high"]]).all()
