"""Splits into members and non-members: disjoint, stratified by the target, drawn by privacy unit."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from memaudit.common.errors import AuditError
from memaudit.data.member_splits import MEMBERS, NONMEMBERS, split_records


def rng(seed=0):
    return np.random.default_rng(seed)


def table(n, classes=None, group=None):
    """Records with a class target (shares `classes`) or, without, a numeric one."""
    target = rng(7).normal(size=n) if classes is None else rng(7).choice(list("abcd")[: len(classes)], n, p=classes)
    records = pd.DataFrame({"id": [f"{i:032x}" for i in range(n)], "target": target})
    return records if group is None else records.assign(group=group)


def sides(records, split):
    return records.merge(split, on="id", how="left")["side"]


@pytest.mark.parametrize("classes", [None, [0.9, 0.08, 0.02]])
@pytest.mark.parametrize("settings", [{"members": 0.8, "nonmembers": 0.2}, {"members": 50, "nonmembers": 70}])
def test_a_split_has_the_requested_sizes_and_equal_members_and_nonmembers(classes, settings):
    records = table(600, classes)
    split = split_records(records, settings, rng())
    counts = split["side"].value_counts()
    share = 600 if settings["members"] == 0.8 else 1
    assert counts[MEMBERS] == round(settings["members"] * share)
    assert counts[NONMEMBERS] == round(settings["nonmembers"] * share)
    assert split["id"].is_unique
    inside, outside = (records["target"][sides(records, split) == side] for side in (MEMBERS, NONMEMBERS))
    if classes is None:
        assert stats.ks_2samp(inside, outside).statistic < 0.05
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
