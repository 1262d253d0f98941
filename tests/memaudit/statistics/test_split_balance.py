"""Statistics of a split: balanced ones pass; unequal targets or features and shared groups are detected."""

import numpy as np
import pandas as pd
import pytest

from memaudit.common import tidy
from memaudit.common.io import write_table
from memaudit.data.deduplication import Policy, deduplicate
from memaudit.data.member_splits import MEMBERS, NONMEMBERS, split_records
from memaudit.data.split_contents import Sample, read_contents
from memaudit.data.table_sources import fetch
from memaudit.statistics.split_balance import balance_rows, compare_targets, two_sample_test, violations

LIMITS = {"tvd": 0.05, "ks": 0.05, "wasserstein": 0.05, "p_value": 0.001}
SETTING = {"dataset": "people", "split": "main"}


def rng(seed=0):
    return np.random.default_rng(seed)


def checked(tmp_path, frame, side, group=None):
    """Statistics by name of a split given by hand. frame: features and `y`; side: bool (record,), True = member."""
    frame.to_parquet(tmp_path / "raw.parquet", index=False)
    task = "regression" if frame["y"].dtype.kind == "f" else "classification"
    policy = Policy(task=task, target="y", types={}, group=group, conflicts="drop_both")
    schema, _ = deduplicate(tmp_path / "raw.parquet", tmp_path / "records.parquet", b"key", policy, "people")
    ids = pd.read_parquet(tmp_path / "records.parquet", columns=["id"])["id"]
    write_table(pd.DataFrame({"id": ids, "side": np.where(side, MEMBERS, NONMEMBERS)}), tmp_path / "split.parquet")
    rows = rows_of(tmp_path, schema)
    assert tidy.frame(rows)["study"].eq("data").all()
    return {row["metric"]: row for row in rows}, violations(rows, LIMITS)


def rows_of(folder, schema):
    draw = rng()
    return balance_rows(
        read_contents(folder / "records.parquet", folder / "split.parquet", schema, draw), SETTING, draw
    )


def people(n=400, regression=False):
    frame = pd.DataFrame({"age": rng(1).normal(size=n), "job": rng(2).choice(["cook", "nurse"], n)})
    return frame.assign(y=rng(3).normal(size=n) if regression else np.arange(n) % 2 == 0)


def test_a_fair_split_passes(tmp_path):
    side = np.arange(400) % 4 < 2
    found, faults = checked(tmp_path, people(), side)
    assert faults == []
    assert found["tvd"]["estimate"] == 0
    assert (found["members"]["estimate"], found["nonmembers"]["estimate"]) == (200, 200)
    auc, null = found["covariate_auc"], found["covariate_null"]
    assert null["low"] < auc["estimate"] < null["high"]
    assert 0.4 < null["estimate"] == auc["null"] < 0.6


def test_classes_that_differ_are_seen_with_value_and_limit(tmp_path):
    found, faults = checked(tmp_path, people(), np.arange(400) % 20 < 8 + 4 * (np.arange(400) % 2))
    assert found["tvd"]["estimate"] == pytest.approx(0.2)
    assert faults == ["tvd 0.2 exceeds the limit 0.05"]


def test_numbers_that_differ_are_seen(tmp_path):
    frame = people(regression=True)
    found, faults = checked(tmp_path, frame, frame["y"] + rng(5).normal(size=400) > 0)
    assert found["ks"]["estimate"] > 0.3
    assert found["ks_p"]["estimate"] < 1e-6
    assert [fault.split()[0] for fault in faults] == ["ks", "wasserstein", "ks_p"]


def test_features_that_differ_are_seen_though_targets_do_not(tmp_path):
    frame = people()
    found, faults = checked(tmp_path, frame, frame["age"] + rng(5).normal(size=400) > 0)
    assert found["covariate_auc"]["estimate"] > 0.7
    assert any(fault.startswith("covariate_p") for fault in faults)


def test_text_that_differs_in_length_is_seen(tmp_path):
    side = rng(4).random(400) < 0.5
    frame = people().assign(essay=[f"{'a long ' if inside else ''}essay {i}" for i, inside in enumerate(side)])
    _, faults = checked(tmp_path, frame, side)
    assert any(fault.startswith("covariate_p") for fault in faults)


def test_a_unit_on_both_sides_is_seen(tmp_path):
    frame = people().assign(who=np.arange(400) // 2)
    _, faults = checked(tmp_path, frame, np.arange(400) % 4 < 2, group="who")
    assert faults == []
    found, faults = checked(tmp_path, frame, np.arange(400) % 4 != 1, group="who")
    assert found["shared_groups"]["estimate"] == 100
    assert "shared_groups 100 exceeds the limit 0" in faults


@pytest.mark.long
def test_the_two_sample_test_is_about_units_not_rows():
    by_row, by_unit = [], []
    for seed in range(5):
        draw = rng(seed)
        person = np.repeat(np.arange(30), 6)
        features = draw.normal(size=(30, 3))[person].astype(np.float32)
        member = draw.permutation(30)[person] < 15
        by_row.append(two_sample_test(Sample(features, member, np.arange(180)), draw)[2])
        by_unit.append(two_sample_test(Sample(features, member, person), draw)[2])
    assert max(by_row) < 0.001, "persons, known again by their rows, look like a difference between the sides"
    assert min(by_unit) > 0.01, "there is none"


@pytest.mark.parametrize("name", ["breast_cancer", "wine", "digits", "diabetes"])
def test_the_embedded_tables_pass_with_four_fifths_as_members(tmp_path, name):
    fetch({"source": "sklearn", "name": name}, tmp_path / "raw.parquet", tmp_path)
    task = "regression" if name == "diabetes" else "classification"
    policy = Policy(task=task, target="target", types={})
    schema, _ = deduplicate(tmp_path / "raw.parquet", tmp_path / "records.parquet", b"key", policy, name)
    records = pd.read_parquet(tmp_path / "records.parquet")
    write_table(split_records(records, {"members": 0.8, "nonmembers": 0.2}, rng()), tmp_path / "split.parquet")
    assert violations(rows_of(tmp_path, schema), LIMITS) == []


def test_distances_between_targets_have_their_textbook_values():
    counts = np.array([3, 1]), np.array([2, 2])
    assert compare_targets(*counts, classes=True) == {"tvd": 0.25}
    numbers = np.arange(10.0)
    apart = compare_targets(numbers, numbers + 5, classes=False)
    assert (apart["ks"], apart["wasserstein"]) == (0.5, 5 / np.concatenate([numbers, numbers + 5]).std())
    assert compare_targets(numbers, numbers, classes=False) == {"ks": 0.0, "ks_p": 1.0, "wasserstein": 0.0}


def test_a_shared_record_breaks_every_limit():
    rows = [{"metric": "shared_ids", "estimate": 1}, {"metric": "ks_p", "estimate": 0.5}]
    assert violations(rows, LIMITS) == ["shared_ids 1 exceeds the limit 0"]
