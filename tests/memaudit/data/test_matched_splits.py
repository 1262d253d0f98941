"""Numbered splits: sides alike at every number of queries, uniform contexts, shuffled labels, units that stay whole."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from conftest import load_script
from scipy import stats

from memaudit.common import tidy
from memaudit.common.errors import AuditError
from memaudit.common.io import read_table, write_table
from memaudit.data.matched_splits import BINS, Sizes, add_labels, bins, draw_split, matched_targets
from memaudit.statistics.permutation_tests import aucs, p_value, permuted_members
from memaudit.statistics.split_balance import compare_targets
from memaudit.workflow.job import Paths

SIZES = Sizes(queries=[10, 30], context=[12, 24])
LIMITS = {"tvd": 0.05, "ks": 0.15, "wasserstein": 0.1, "p_value": 0.001}


def rng(seed=0):
    return np.random.default_rng(seed)


def table(n=160, shares=None, group=None):
    """Records with a class (shares) or a number as target; group: records of one person."""
    target = rng(7).normal(size=n) if shares is None else rng(7).choice(list("abcde")[: len(shares)], n, p=shares)
    records = pd.DataFrame({"id": [f"{i:032x}" for i in range(n)], "target": target})
    return records if group is None else records.assign(group=group)


def of_role(records, split, role, count=None):
    """Targets of a role, in its order."""
    merged = records.merge(split, on="id").query("role == @role").sort_values("order")
    return merged["target"].to_numpy()[:count]


@pytest.mark.parametrize("seed", range(5))
def test_classes_are_equally_many_on_both_sides_at_every_number_of_queries(seed):
    records = table(shares=[0.5, 0.3, 0.2])
    split = draw_split(records, SIZES, rng(seed))
    assert split.groupby("role").size().to_dict() == {"context": 24, "nonmember": 30, "query": 30, "spare": 76}
    assert split.id.tolist() == records.id.tolist()
    for count in (10, 30):
        inside, outside = (np.sort(of_role(records, split, role, count)) for role in ("query", "nonmember"))
        assert inside.tolist() == outside.tolist()
        shares = pd.Series(inside).value_counts(normalize=True)
        assert (shares - records.target.value_counts(normalize=True)).abs().max() < 0.11
    assert set(split.side[split.role == "nonmember"]) == {"nonmembers"}
    assert set(split.side[split.role != "nonmember"]) == {"members"}


@pytest.mark.parametrize("seed", range(5))
def test_numbers_differ_by_one_record_for_every_number_of_queries_that_is_reached(seed):
    records = table()
    split = draw_split(records, SIZES, rng(seed))
    for reached, count in enumerate((10, 30), 1):
        inside, outside = (of_role(records, split, role, count) for role in ("query", "nonmember"))
        assert stats.ks_2samp(inside, outside).statistic <= reached / count + 1e-12
        assert stats.ks_2samp(inside, records.target).statistic < 2.5 / count


@pytest.mark.parametrize("shares", [None, [0.8, 0.2]])
def test_of_those_attacked_everybody_is_as_often_a_member_as_not(shares):
    records = table(40, shares)
    roles = [draw_split(records, Sizes([5], [4]), rng(seed)).role.to_numpy() for seed in range(400)]
    inside, outside = (np.mean([role == name for role in roles], axis=0) for name in ("query", "nonmember"))
    assert (inside + outside).min() > 0.05
    assert np.abs(inside - outside).max() < 4 * np.sqrt(2 * 0.125 / 400)


@pytest.mark.parametrize("shares", [None, [0.5, 0.3, 0.2]])
def test_negative_controls_are_like_queries_disjoint_and_change_no_other_role(shares):
    records = table(shares=shares)
    without = draw_split(records, SIZES, rng(0))
    split = draw_split(records, Sizes(SIZES.queries, SIZES.context, 30), rng(0))
    assert (split.role == "placebo").sum() == 30
    assert set(split.side[split.role == "placebo"]) == {"members"}
    kept = split.role.isin(["query", "nonmember", "context"])
    assert split[kept].equals(without[kept])
    if shares is None:
        assert abs(of_role(records, split, "placebo").mean() - records.target.mean()) < 0.4
    assert {"target_shuffled_all"} < set(add_labels(split, records.target, SIZES, rng(1)))
    with pytest.raises(
        AuditError, match="as many non-members, 90 negative controls and 24 context rows are 174 records"
    ):
        draw_split(records, Sizes(SIZES.queries, SIZES.context, 90), rng(0))


def test_context_is_uniform_as_far_as_the_data_reach_and_so_is_its_beginning():
    records = table(200, [0.62, 0.35, 0.03])
    split = draw_split(records, SIZES, rng())
    first, whole = (pd.Series(of_role(records, split, "context", count)).value_counts() for count in (12, 24))
    left = (records.target == "c").sum() - 2 * (of_role(records, split, "query") == "c").sum()
    assert left < 8
    assert whole["c"] == left
    assert abs(whole["a"] - whole["b"]) <= 1
    assert first.to_dict() == {"a": 4, "b": 4, "c": 4}


def test_a_context_of_numbers_is_uniform_over_bins_and_so_is_its_beginning():
    records = table(600)
    split = draw_split(records, Sizes([10], [20, 60]), rng())
    bin_of = dict(zip(records.target, bins(records.target.to_numpy()), strict=True))
    for count in (20, 60):
        counts = np.bincount([int(bin_of[number]) for number in of_role(records, split, "context", count)], None, BINS)
        available = np.bincount(list(map(int, bin_of.values())), None, BINS)
        assert counts.max() - counts[available > count / BINS + 10].min() <= 1
    middle = available.argmax()
    assert available[middle] / len(records) > 1.5 * counts[middle] / 60  # unlike in the source


def test_bins_have_equal_width_between_quantiles_and_hold_all_numbers():
    numbers = np.append(np.arange(1000.0), 1e9)
    found = bins(numbers)
    assert set(found) == set(range(BINS))
    assert np.bincount(found.astype(int))[1:-1].std() < 1
    assert found[-1] == BINS - 1


@pytest.mark.parametrize("seed", range(10))
def test_every_queried_class_is_in_the_shortest_context(seed):
    records = table(60, [0.8, 0.2]).assign(target=lambda t: ["rare"] * 3 + ["alone"] + t.target.tolist()[4:])
    split = draw_split(records, Sizes([20], [4, 8]), rng(seed))
    asked = set(of_role(records, split, "query"))
    assert "alone" not in asked
    assert asked <= set(of_role(records, split, "context", 4))


def test_a_person_stands_on_one_side_and_is_attacked_by_one_record():
    person = np.repeat(np.arange(90), rng(1).integers(1, 4, 90))
    records = table(len(person), [0.6, 0.4], [f"person {code}" for code in person])
    for seed in range(5):
        split = draw_split(records, SIZES, rng(seed)).assign(group=records.group)
        assert split.groupby("group").side.nunique().eq(1).all()
        assert split[split.role != "spare"].group.is_unique
        assert (split.role == "spare").sum() == len(records) - 84
    beside = split[(split.role == "spare") & (split.side == "nonmembers")]
    assert len(beside)


@pytest.mark.parametrize("shares", [None, [0.5, 0.3, 0.2]])
def test_shuffled_labels_keep_the_marginals_of_every_role_at_every_number(shares):
    records = table(shares=shares)
    split = add_labels(draw_split(records, SIZES, rng()), records.target, SIZES, rng(1))
    assert split.target_normal.tolist() == records.target.tolist()
    for condition in ("target_shuffled_members", "target_shuffled_all"):
        for role, counts in {"query": (10, 30), "context": (12, 24), "nonmember": (10, 30), "spare": (76,)}.items():
            chosen = split[split.role == role].sort_values("order")
            for count in counts:
                assert sorted(chosen[condition][:count]) == sorted(chosen.target_normal[:count])
        member = split.side == "members"
        assert (split[condition] != split.target_normal)[member].mean() > 0.5
    outside = split[split.role == "nonmember"]
    assert (outside.target_shuffled_members == outside.target_normal).all()
    assert (outside.target_shuffled_all != outside.target_normal).mean() > 0.3
    assert (split.target_shuffled_members == split.target_shuffled_all)[member].all()
    if shares:  # matched pairs have the same class, and still have it with the labels of another pair
        inside = split[split.role == "query"].sort_values("order").target_shuffled_all
        assert (inside.to_numpy() == outside.sort_values("order").target_shuffled_all.to_numpy()).all()


@pytest.mark.parametrize("shares", [None, [0.5, 0.3, 0.2]])
def test_permutations_of_pairs_are_a_null_where_all_labels_are_shuffled_and_none_where_members_are(shares):
    """Scores of a model that knows labels, and no target: p is uniform, but not where members alone are shuffled."""
    sizes, found = Sizes([30], [12]), {"shuffled_all": [], "shuffled_members": []}
    records = table(n=120, shares=shares)
    codes = records.target if shares is None else records.target.map("abcde".index)
    known = codes + rng(3).normal(size=len(codes))  # a feature that tells the label
    for seed in range(200):
        split = add_labels(draw_split(records, sizes, rng(seed)), codes, sizes, rng(seed + 1000))
        chosen = split.role.isin(["query", "nonmember"])
        member, pair = (split.role == "query")[chosen].to_numpy(), split.order[chosen].to_numpy()
        drawn = rng(seed).random((2, 199, 30))[:, :, pair]
        permuted = permuted_members(member, pair, drawn[0] < 0.5, drawn[1])
        for condition, p in found.items():
            scores = -((split[f"target_{condition}"] - known)[chosen].abs().to_numpy())
            p.append(p_value(aucs(scores, member[None])[0], aucs(scores, permuted)))
    assert stats.kstest(found["shuffled_all"], "uniform").pvalue > 0.001
    low, high = stats.binom.ppf([0.001, 0.999], 200, 0.05)
    assert low <= np.sum(np.array(found["shuffled_all"]) <= 0.05) <= high
    assert stats.kstest(found["shuffled_members"], "uniform").pvalue < 1e-6


def test_statistics_are_those_of_table_6():
    records = table(shares=[0.5, 0.3, 0.2])
    split = draw_split(records, SIZES, rng()).assign(role=lambda s: rng(3).permutation(s.role))
    split["order"] = split.groupby("role").cumcount()  # at random, so that the sides differ
    inside, outside = (of_role(records, split, role, 10) for role in ("query", "nonmember"))
    shares = [
        pd.Series(side).value_counts(normalize=True).reindex(list("abc"), fill_value=0) for side in (inside, outside)
    ]
    expected = (shares[0] - shares[1]).abs().sum() / 2
    assert expected > 0.05
    assert compare_targets(*matched_targets(split, records.target, 10)) == {"tvd": pytest.approx(expected)}
    numbers = table()
    inside, outside = (of_role(numbers, split, role, 10) for role in ("query", "nonmember"))
    found = compare_targets(*matched_targets(split, numbers.target, 10))
    assert found["ks"] == stats.ks_2samp(inside, outside).statistic
    assert found["ks_p"] == stats.ks_2samp(inside, outside).pvalue
    scale = np.concatenate([inside, outside]).std()
    assert found["wasserstein"] == pytest.approx(np.abs(np.sort(inside) - np.sort(outside)).mean() / scale)


@pytest.mark.parametrize(
    ("records", "sizes", "message"),
    [
        (
            table(80),
            Sizes([30], [24]),
            "30 query members, as many non-members and 24 context rows are 84 records, there are 80",
        ),
        (table(90).assign(target=lambda t: t.id), SIZES, "every record has a class of its own"),
        (
            table(90, [0.5, 0.5]).assign(target=lambda t: t.id.where(t.index > 20, "a")),
            SIZES,
            "10 pairs of records of one",
        ),
    ],
)
def test_an_impossible_split_is_refused_in_one_line(records, sizes, message):
    with pytest.raises(AuditError, match=message) as error:
        draw_split(records, sizes, rng())
    assert "\n" not in str(error.value)


def script(folder, records, limits, **params):
    """Run the script; its splits and its statistics."""
    write_table(records, folder / "records.parquet")
    outputs = [folder / "out" / name for name in ("splits.parquet", "checks.parquet")]
    job = SimpleNamespace(
        input=Paths([f"records={folder}/records.parquet"]),
        output=Paths([f"{name}={path}" for name, path in zip(("splits", "checks"), outputs, strict=True)]),
        wildcards=SimpleNamespace(dataset="towns"),
        params=SimpleNamespace(
            **({"seed": 1, "splits": 3, "queries": [10, 30], "context": [24], "placebos": 0, "limits": limits} | params)
        ),
    )
    load_script("iclmem_draw_splits").main(job)
    return read_table(outputs[0]), tidy.expand(read_table(outputs[1]))


def test_script_draws_splits_that_differ_and_do_not_depend_on_how_many_there_are(tmp_path):
    splits, checks = script(tmp_path, table(shares=[0.6, 0.4]), LIMITS)
    assert splits.columns.tolist()[:4] == ["id", "side", "role", "order"]
    assert splits.groupby("split").id.nunique().to_dict() == {0: 160, 1: 160, 2: 160}
    asked = [set(splits[(splits.split == split) & (splits.role == "query")].id) for split in range(3)]
    assert asked[0] != asked[1] != asked[2]
    more, _ = script(tmp_path, table(shares=[0.6, 0.4]), LIMITS, splits=5)
    pd.testing.assert_frame_equal(more[more.split < 3], splits)
    assert set(checks.metric) == {"tvd", "draws"}
    assert set(zip(checks.split, checks.queries, strict=True)) == {(s, q) for s in range(3) for q in (10, 30)}


def test_a_split_that_misses_a_limit_is_drawn_again(tmp_path):
    usual = script(tmp_path, table(), LIMITS)[1].query("metric == 'wasserstein'")
    strict = float(usual.estimate.median())
    splits, checks = script(tmp_path, table(), LIMITS | {"wasserstein": strict})
    assert checks.query("metric == 'wasserstein'").estimate.max() <= strict
    draws = checks.query("metric == 'draws'").estimate
    assert draws.min() >= 1
    assert draws.max() > 1
    assert len(splits) == 3 * 160


def test_a_limit_that_no_draw_keeps_ends_with_the_data_set_the_statistic_and_the_mend(tmp_path):
    with pytest.raises(AuditError) as error:
        script(tmp_path, table(), LIMITS | {"ks": 0.02})
    assert str(error.value).startswith("data set towns: split 0: ks 0.")
    assert "exceeds the limit 0.02 with 30 queries, in the last of 50 draws; raise datasets/towns/limits" in str(
        error.value
    )
