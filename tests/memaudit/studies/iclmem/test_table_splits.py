"""Splits of a table: roles, training pairs and label conditions."""

import pytest
from wine_probes import call, split_of

from memaudit.common.io import read_table
from memaudit.studies.iclmem.table_splits import Split

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.mark.parametrize("labels", ["shuffled_members", "shuffled_all"])
def test_shuffled_labels_are_those_of_the_splits_in_fine_tuning_and_in_probing(world, labels, tmp_path, monkeypatch):
    tasks, task = [], Split.task
    monkeypatch.setattr(Split, "task", lambda *arguments: tasks.append(task(*arguments)) or tasks[-1])
    grid = call(world, tmp_path / "0.nc", arm={"labels": labels})
    splits = read_table(world / "wine.splits")
    facts = splits[splits.split == 0].set_index("id")
    codes = facts[f"target_{labels}"].map({"a": 0, "b": 1, "c": 2})
    assert grid.label.values[0].tolist() == codes[grid.id.values[0]].tolist()
    assert tasks[0].y.tolist() == codes.tolist()
    assert (codes != facts.target_normal.map({"a": 0, "b": 1, "c": 2})).sum() > 10


def test_roles_are_taken_in_their_order_and_pairs_have_one_number(world):
    split = split_of(world, 0)
    rows = split.targets(3, 2)
    assert split.facts.role.iloc[rows].tolist() == ["query"] * 3 + ["nonmember"] * 3 + ["context"] * 2
    assert split.pairs(rows).tolist() == [0, 1, 2, 0, 1, 2, -1, -1]
    assert split.facts.order.iloc[split.rows("context")].tolist() == list(range(12))


def test_fixed_pairs_query_the_members_only_and_negative_controls_other_records(world):
    split = split_of(world, 0)
    task, control = split.task(8, 12, "fixed"), split.task(8, 12, "fixed", True)
    context = split.rows("context").tolist()
    assert task.records.tolist() == [*split.rows("query"), *context]
    assert control.records.tolist() == [*split.rows("placebo", 8), *context]
    assert not set(control.records) & set(split.rows("query"))


def test_the_reference_holds_members_that_are_no_queries(world):
    split = split_of(world, 0)
    roles = split.facts.role[split.facts.side == "members"].isin(["context", "spare"])
    assert len(split.reference.y) == roles.sum()
    assert split.reference.x.shape == (roles.sum(), 13)


def test_random_contexts_are_drawn_from_the_context_rows_for_the_same_queries(world):
    split = split_of(world, 0)
    task = split.task(8, 12, "random_contexts")
    assert task.queried.tolist() == split.rows("query", 8).tolist()
    assert task.records.tolist() == [*split.rows("query", 8), *split.rows("context", 12)]
    assert split.task(8, 12, "random").queried is None


def test_held_out_records_are_neither_trained_on_nor_judged_nor_of_the_non_members_side(world):
    split = split_of(world, 0)
    facts = split.facts.iloc[split.held_out]
    assert set(facts.role) == {"spare"}
    assert set(facts.side) == {"members"}
    assert 0 < len(facts) <= 50
