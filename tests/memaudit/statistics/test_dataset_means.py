"""Means over data sets: values and intervals, incomplete combinations, missing keys, units, published numbers."""

import numpy as np
import pandas as pd
import pytest

from memaudit.common import tidy
from memaudit.common.errors import AuditError
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


def test_values_in_different_units_have_no_mean():
    table = scores().assign(unit=["nats", "fraction", "fraction", "fraction"])
    with pytest.raises(AuditError, match="demo: auc is in nats and in fraction, so it has no mean over data sets"):
        averaged(table)
    assert averaged(scores().assign(unit="nats"))["unit"].tolist() == ["nats", "nats"]


def test_a_published_number_has_its_keys_and_no_interval():
    (row,) = published("demo", [{"table": "1", "dataset": "mean", "metric": "auc", "printed": 0.73}], scores())
    assert (row["setting"], row["metric"], row["estimate"]) == (
        "source=paper, table=1, dataset=mean",
        "auc",
        0.73,
    )
    assert np.isnan([row["low"], row["high"]]).all()


def test_an_entry_may_have_several_published_numbers():
    by_metric = published("demo", [{"table": "1", "printed": {"auc": 0.7, "tpr@0.1": 0.2}}], scores())
    assert [(row["setting"], row["metric"], row["estimate"]) for row in by_metric] == [
        ("source=paper, table=1", "auc", 0.7), ("source=paper, table=1", "tpr@0.1", 0.2),
    ]  # fmt: skip
    by_attack = published(
        "demo", [{"metric": "auc", "printed": {"lira": 0.7}}, {"metric": "d", "printed": 1}], scores(), "attack"
    )
    assert [(row["setting"], row["metric"]) for row in by_attack] == [
        ("source=paper, attack=lira", "auc"), ("source=paper", "d"),
    ]  # fmt: skip


def test_a_published_number_has_the_unit_of_ours():
    entries = [{"metric": "auc", "printed": 0.7}, {"metric": "other", "printed": 0.7}]
    assert [row["unit"] for row in published("demo", entries, scores().assign(unit="nats"))] == ["nats", "fraction"]
