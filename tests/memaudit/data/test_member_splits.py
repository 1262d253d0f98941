"""Splits and designs: disjoint, alike, drawn per unit; and checks that see it when they are not."""

import numpy as np
import pandas as pd
import pytest

from memaudit import tidy
from memaudit.data import membership_matrices, split_checks
from memaudit.data.deduplication import Policy, deduplicate
from memaudit.data.member_splits import MEMBERS, NONMEMBERS, split_records
from memaudit.data.table_sources import fetch
from memaudit.errors import AuditError
from memaudit.io import write_table

LIMITS = {"tvd": 0.05, "ks": 0.05, "wasserstein": 0.05, "p_value": 0.001}
SETTING = {"dataset": "people", "split": "main"}


def rng(seed=0):
    return np.random.default_rng(seed)


def table(n, classes=None, group=None):
    """Records with a class target (shares `classes`) or, without, a numeric one."""
    target = rng(7).normal(size=n) if classes is None else rng(7).choice(list("abcd")[: len(classes)], n, p=classes)
    records = pd.DataFrame({"id": [f"{i:032x}" for i in range(n)], "target": target})
    return records if group is None else records.assign(group=group)


def sides(records, split):
    return records.merge(split, on="id", how="left")["side"]


# --- drawing -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("classes", [None, [0.9, 0.08, 0.02]])
@pytest.mark.parametrize("settings", [{"members": 0.8, "nonmembers": 0.2}, {"members": 50, "nonmembers": 70}])
def test_a_split_has_the_asked_sizes_and_is_alike_on_both_sides(classes, settings):
    records = table(600, classes)
    split = split_records(records, settings, rng())
    counts = split["side"].value_counts()
    share = 600 if settings["members"] == 0.8 else 1
    assert counts[MEMBERS] == round(settings["members"] * share)
    assert counts[NONMEMBERS] == round(settings["nonmembers"] * share)
    assert split["id"].is_unique
    inside, outside = (records["target"][sides(records, split) == side] for side in (MEMBERS, NONMEMBERS))
    if classes is None:
        facts = split_checks.compare_numbers(inside.to_numpy(), outside.to_numpy())
        assert facts["ks"] < 0.05
    else:
        difference = inside.value_counts(normalize=True) - outside.value_counts(normalize=True)
        assert difference.abs().sum() / 2 < 0.02


def test_a_split_is_random_in_the_seed_and_only_in_the_seed():
    records = table(100)
    settings = {"members": 0.5, "nonmembers": 0.5}
    one, same, other = (split_records(records, settings, rng(seed)) for seed in (0, 0, 1))
    pd.testing.assert_frame_equal(one, same)
    agreement = (one["side"].to_numpy() == other["side"].to_numpy()).mean()
    assert 0.25 < agreement < 0.75


def test_every_record_may_become_a_member():
    records = table(40)
    settings = {"members": 0.5, "nonmembers": 0.5}
    share = np.mean([sides(records, split_records(records, settings, rng(s))) == MEMBERS for s in range(400)], axis=0)
    assert np.abs(share - 0.5).max() < 0.11


def test_units_stay_together_and_are_what_is_counted():
    group = np.repeat(np.arange(100), rng(3).integers(1, 6, 100))
    records = table(len(group), [0.5, 0.5], [f"person {code}" for code in group])
    split = split_records(records, {"members": 70, "nonmembers": 30}, rng())
    merged = records.merge(split, on="id")
    assert merged.groupby("group")["side"].nunique().eq(1).all()
    assert merged.groupby("side")["group"].nunique().to_dict() == {MEMBERS: 70, NONMEMBERS: 30}


def test_balance_and_max_records():
    records = table(2000, [0.9, 0.1])
    split = split_records(records, {"members": 0.5, "nonmembers": 0.5, "max_records": 300, "balance": True}, rng())
    merged = records.merge(split, on="id")
    assert merged["target"].value_counts().to_dict() == {"a": 150, "b": 150}
    split = split_records(records, {"members": 0.5, "nonmembers": 0.5, "max_records": 300, "balance": False}, rng())
    shares = records.merge(split, on="id")["target"].value_counts(normalize=True)
    assert len(split) == 300
    assert shares["b"] == pytest.approx((records["target"] == "b").mean(), abs=0.01)
    with pytest.raises(AuditError, match="`balance` needs classes"):
        split_records(table(50), {"members": 0.5, "nonmembers": 0.5, "balance": True}, rng())


@pytest.mark.parametrize("settings", [(80, 30), (200, 0.1), (0.9, 20), (0, 10)])
def test_more_members_than_records_is_one_line(settings):
    with pytest.raises(AuditError, match=r"members and .* non-members cannot be drawn from 100 units"):
        split_records(table(100), dict(zip(("members", "nonmembers"), settings, strict=True)), rng())


# --- checking ----------------------------------------------------------------------------------------------------


def checked(tmp_path, frame, side, group=None):
    """Statistics by name of a split given by hand. frame: features and `y`; side: bool (record,), True = member."""
    frame.to_parquet(tmp_path / "raw.parquet", index=False)
    task = "regression" if frame["y"].dtype.kind == "f" else "classification"
    policy = Policy(task=task, target="y", types={}, group=group, conflicts="drop_both")
    schema, _ = deduplicate(tmp_path / "raw.parquet", tmp_path / "records.parquet", b"key", policy, "people")
    ids = pd.read_parquet(tmp_path / "records.parquet", columns=["id"])["id"]
    write_table(pd.DataFrame({"id": ids, "side": np.where(side, MEMBERS, NONMEMBERS)}), tmp_path / "split.parquet")
    rows = split_checks.check_split(tmp_path / "records.parquet", tmp_path / "split.parquet", schema, SETTING, rng())
    assert tidy.frame(rows)["study"].eq("data").all()
    return {row["metric"]: row for row in rows}, split_checks.violations(rows, LIMITS)


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


def test_a_copy_on_both_sides_is_seen(tmp_path):
    frame = pd.DataFrame({"x": [1, 2, 3, 1], "target": ["a", "b", "a", "b"], "id": ["1", "2", "3", "4"]})
    write_table(frame, tmp_path / "records.parquet")
    split = pd.DataFrame(
        {"id": ["1", "2", "3", "4", "2"], "side": [MEMBERS, MEMBERS, NONMEMBERS, NONMEMBERS, NONMEMBERS]}
    )
    write_table(split, tmp_path / "split.parquet")
    schema = {
        "task": "classification",
        "grouped": False,
        "columns": [{"name": "x", "type": "numeric"}],
        "target": {"name": "target", "type": "categorical", "categories": ["a", "b"]},
    }
    rows = split_checks.check_split(tmp_path / "records.parquet", tmp_path / "split.parquet", schema, SETTING, rng())
    faults = split_checks.violations(rows, LIMITS)
    assert faults[:2] == ["shared_ids 1 exceeds the limit 0", "shared_copies 2 exceeds the limit 0"]


def test_the_two_sample_test_is_about_units_not_rows():
    by_row, by_unit = [], []
    for seed in range(5):
        draw = rng(seed)
        person = np.repeat(np.arange(30), 6)
        features = draw.normal(size=(30, 3))[person].astype(np.float32)
        member = draw.permutation(30)[person] < 15
        by_row.append(split_checks.two_sample(features, member, np.arange(180), draw)[2])
        by_unit.append(split_checks.two_sample(features, member, person, draw)[2])
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
    rows = split_checks.check_split(tmp_path / "records.parquet", tmp_path / "split.parquet", schema, SETTING, rng())
    assert split_checks.violations(rows, LIMITS) == []


# --- designs -----------------------------------------------------------------------------------------------------


def test_balanced_puts_each_record_in_exactly_half_of_the_models():
    design = membership_matrices.balanced(16, 500, rng())
    assert design.shape == (16, 500)
    assert (design.sum(0) == 8).all()
    assert design.sum(1).std() > 0, "sizes of the contexts vary: records are drawn, not contexts"


def test_every_prefix_of_blocks_is_balanced_and_part_of_the_larger_design():
    small, large = (
        membership_matrices.balanced(8, 50, rng(), block=4),
        membership_matrices.balanced(16, 50, rng(), block=4),
    )
    np.testing.assert_array_equal(large[:8], small)
    for end in (4, 8, 12, 16):
        assert (large[:end].sum(0) == end // 2).all()


def test_bernoulli_and_fixed_size():
    design = membership_matrices.bernoulli(400, 300, rng(), p=0.25)
    assert design.mean() == pytest.approx(0.25, abs=0.01)
    np.testing.assert_array_equal(design[:7], membership_matrices.bernoulli(7, 300, rng(), p=0.25))
    design = membership_matrices.fixed_size(100, 60, 20, rng())
    assert (design.sum(1) == 20).all()
    assert 0.2 < design.mean(0).min() < design.mean(0).max() < 0.5
    np.testing.assert_array_equal(design[:7], membership_matrices.fixed_size(7, 60, 20, rng()))


def test_a_design_of_units_expands_to_their_records():
    records = pd.DataFrame({"id": list("abcd"), "group": ["q", "p", "q", "r"]})
    units = membership_matrices.unit_codes(records)
    design = membership_matrices.expand(membership_matrices.balanced(4, 3, rng()), units)
    assert design.shape == (4, 4)
    np.testing.assert_array_equal(design[:, 0], design[:, 2])
    np.testing.assert_array_equal(membership_matrices.unit_codes(records[["id"]]), np.arange(4))
    with pytest.raises(ValueError, match="a design of 4 units, but records of 3"):
        membership_matrices.expand(design, units)


@pytest.mark.parametrize(
    ("draw", "line"),
    [
        (lambda: membership_matrices.balanced(7, 5, rng()), "an even number of models"),
        (lambda: membership_matrices.balanced(12, 5, rng(), block=8), "in whole blocks, not 12 in 8s"),
        (lambda: membership_matrices.balanced(1, 5, rng()), "at least 2 models"),
        (lambda: membership_matrices.bernoulli(1, 5, rng()), "at least 2 models"),
        (lambda: membership_matrices.bernoulli(4, 5, rng(), p=1.0), "between 0 and 1, not 1.0"),
        (lambda: membership_matrices.fixed_size(4, 5, 6, rng()), "6 of 5 records cannot be drawn"),
        (lambda: membership_matrices.fixed_size(4, 5, 0, rng()), "0 of 5 records cannot be drawn"),
    ],
)
def test_impossible_designs_are_refused(draw, line):
    with pytest.raises(AuditError, match=line):
        draw()
