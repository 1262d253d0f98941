"""Groups are numbered in the results; their names stay beside the records."""

import numpy as np
import pandas as pd
from conftest import load_script

from memaudit.auditing.summaries import summarize_groups
from memaudit.common import tidy
from memaudit.common.io import read_json, read_table


def test_groups_are_numbered_in_the_result_and_named_beside_the_records(folder):
    table = tidy.expand(read_table(folder / "groups.parquet"))
    left_out = table["metric"] == "records left out"
    assert set(table.loc[~left_out, "column"].dropna()) == {"target", "c0"}
    assert set(table.loc[left_out, "column"]) == {"c9"}  # quarters of so few records are too small
    assert "Zqx" not in table.to_csv()
    assert set(read_json(folder / "groups.json")["c0"].values()) == {"Zqx-a", "Zqx-b"}


def test_an_excess_is_detected_by_its_adjusted_p_value(folder):
    table = tidy.expand(read_table(folder / "groups.parquet"))
    values = {metric: rows["estimate"].to_numpy() for metric, rows in table.groupby("metric")}
    assert (values["auc excess detected"] == (values["auc excess p-value"] <= 0.05)).all()


def test_the_subpopulation_of_the_search_is_numbered_too(folder):
    results = read_table(folder / "groups.parquet")
    called = {"c0": "city", "c9": "age", "target": "churn"}
    hidden = summarize_groups.subpopulation(results, called, None)
    assert hidden is None or {one.name for one in hidden.groups} == {None}
    assert {one.column for one in summarize_groups.groups(results, called, None)} == {"city", "churn"}


def test_groups_that_are_too_small_or_beyond_the_largest_are_counted():
    script = load_script("audit_compare_groups")
    large, small = np.arange(40) < 15, (np.arange(40) >= 15) & (np.arange(40) < 23)
    rows = list(script._left_out({("c0", 1): large, ("c0", 2): small, ("c1", 1): np.arange(40) < 40}, "wine"))
    (group, rest) = summarize_groups.small_groups(tidy.frame(rows), {"c0": "city"}, {"c0": {"2": "Paris"}})
    assert (group.column, group.number, group.name, group.records) == ("city", 2, "Paris", 8)
    assert (rest.column, rest.number, rest.name, rest.records) == ("city", None, None, 17)


def test_quarters_are_numbered_from_the_smallest_values_on_and_categories_the_largest_first():
    groups = load_script("audit_compare_groups")._groups
    numbers = pd.Series([7.0, np.nan, 2.0, 1.0, 3.0, 6.0, 8.0, 5.0, 4.0])
    found = groups(numbers, "numeric", 12)
    assert [name for name, _ in found] == ["quarter 1", "quarter 2", "quarter 3", "quarter 4", "(missing)"]
    least = [numbers[mask].min() for _, mask in found[:-1]]
    assert least == sorted(least)
    assert [name for name, _ in groups(pd.Series(["a", "b", "b"]), "categorical", 12)] == ["b", "a"]
