"""Fine-tuning conditions of a small section `iclmem`: tables, numbers of records, settings, matched arms."""

import pytest

from memaudit.workflow.studies.iclmem_arms import Arms

PLAIN = {
    "datasets": None,
    "learning_rate": 1e-3,
    "queries": None,
    "context": None,
    "labels": "normal",
    "epochs": None,
    "pairs": "fixed",
    "joint": False,
    "adapter": None,
    "private": None,
    "placebo": False,
    "copies": None,
    "label_smoothing": None,
    "planted": False,
    "control": None,
    "against": None,
}
CATALOGUE = {
    "flowers": {"task": "classification"},
    "wine": {"task": "classification"},
    "houses": {"task": "regression"},
}


def section(**arms):
    return {
        "datasets": ["flowers", "wine", "houses"],
        "models": {"classification": "classifier", "regression": "regressor"},
        "queries": 50,
        "context": 150,
        "contexts": {"wine": 60},
        "epochs": [1, 10],
        "targets": {"queries": 21, "context": 2},
        "doses": {},
        "arms": {name: PLAIN | settings for name, settings in arms.items()},
    }


def arms(**settings):
    return Arms(section(**settings), CATALOGUE)


JOINT = {"joint": True, "datasets": ["flowers", "wine"]}


def test_an_arm_has_its_tables_or_all_in_the_order_of_the_study():
    some = arms(all={}, two={"datasets": ["houses", "flowers"]}, other={"datasets": ["digits"]})
    assert some.datasets("all") == ["flowers", "wine", "houses"]
    assert some.datasets("two") == ["flowers", "houses"]
    assert some.runs == [(name, "all") for name in CATALOGUE] + [("flowers", "two"), ("houses", "two")]
    assert list(some.used) == ["all", "two"]


def test_an_arm_with_an_empty_list_has_no_table():
    some = arms(none={"datasets": []}, joint={"joint": True, "datasets": []})
    assert some.runs == []


def test_a_joint_arm_has_one_task_or_none_if_a_table_is_missing():
    some = arms(joint=JOINT, incomplete={"joint": True, "datasets": ["flowers", "digits"]})
    assert some.runs == [("joint", "joint")]
    assert some.tables("joint", "joint") == ["flowers", "wine"]
    assert (some.tasks("incomplete"), some.all_tasks) == ([], ["joint"])


def test_settings_are_the_arms_own_or_the_studys():
    some = arms(own={"queries": 7, "context": 9, "epochs": [3]}, study={})
    assert some.settings("wine", "own") == {
        **{key: value for key, value in PLAIN.items() if key != "datasets"},
        **{"queries": 7, "context": 9, "epochs": [3], "model": "classifier"},
    }
    filled = some.settings("houses", "study")
    assert [filled[key] for key in ("queries", "context", "epochs", "model")] == [50, 150, [1, 10], "regressor"]


def test_pairs_of_a_joint_arm_have_the_smallest_context_of_its_tables():
    assert arms(joint=JOINT).settings("joint", "joint")["context"] == 60


def test_records_of_a_table_are_counted_over_its_arms():
    some = arms(plain={}, wide={"queries": 200, "context": 90}, few={"queries": 5}, control={"placebo": True})
    assert some.query_counts("flowers") == [5, 21, 50, 200]
    assert some.context_counts("flowers") == [90, 150]
    assert some.probed_count("flowers") == 21
    assert (some.control_count("flowers"), arms(plain={}).control_count("flowers")) == (50, 0)


@pytest.mark.parametrize(("limit", "probed"), [(None, 50), (21, 21), (80, 50)])
def test_no_more_than_the_arms_query_members_are_probed(limit, probed):
    some = section(plain={})
    some["targets"]["queries"] = limit
    assert Arms(some, CATALOGUE).probed(50) == probed


def test_label_conditions_are_those_of_a_tables_arms():
    some = arms(plain={}, shuffled={"labels": "shuffled_all", "datasets": ["wine"]}, slow={"learning_rate": 1e-4})
    assert some.label_conditions("wine") == ["normal", "shuffled_all"]
    assert some.label_conditions("houses") == ["normal"]


def test_extensions_are_matched_by_learning_rate_and_queries():
    some = arms(
        plain={},
        slow={"learning_rate": 1e-4},
        wide={"queries": 200},
        shuffled={"labels": "shuffled_all"},
        random={"pairs": "random"},
        joint=JOINT,
        canaries={"labels": "canaries"},
        lora={"adapter": {"rank": 8, "alpha": 16.0}},
        dp={"private": {"epsilon": 8.0, "delta": 1e-3}, "learning_rate": 1e-2},
    )
    assert some.plain == ["plain", "slow", "wide", "shuffled", "canaries"]
    assert some.extensions == ["canaries", "lora", "dp"]
    assert some.private == ["dp"]
    # No plain arm has the private one's learning rate, and shuffled labels are no match.
    assert some.matched == ["plain"]
    assert arms(plain={}).matched == []


def test_the_example_has_the_largest_typical_rate_then_few_queries():
    some = arms(fast={"learning_rate": 1e-1}, slow={"learning_rate": 1e-5}, wide={"queries": 200}, typical={})
    assert some.example("wine") == "typical"
    assert arms(fast={"learning_rate": 1e-1}).example("wine") == "fast"
    assert arms(shuffled={"labels": "shuffled_all"}).example("wine") is None


def test_random_contexts_are_drawn_from_the_context_of_the_table():
    some = arms(plain={"context": 30}, fresh={"pairs": "random_contexts", "context": 20})
    assert some.settings("wine", "fresh")["pool"] == 60
    assert some.context_counts("wine") == [20, 30, 60]
    assert "pool" not in some.settings("wine", "plain")


def test_axes_controls_and_defences_are_named_where_their_arms_share_a_table():
    only = {"datasets": ["wine"]}
    few = section(a=only, b=only, c=only, d=only | {"against": "a"}, e={"datasets": ["houses"], "against": "a"})
    few["doses"] = {"copies": ["a", "b", "c"], "queries": ["a", "b", "e"]}
    few["arms"]["planted"] = PLAIN | {"control": "positive"}
    some = Arms(few, CATALOGUE)
    assert some.dose_axes == ["copies"]
    assert some.defended == ["d"]
    assert some.positive == ["planted"]
    assert "planted" not in some.plain


def test_shadow_models_are_of_the_tables_that_an_arm_has_and_probed_at_named_epochs_or_the_last():
    truth = {"datasets": ["wine", "houses"], "arms": ["a", "b"], "epochs": None}
    chosen = section(a={}, b={"datasets": ["flowers", "wine"], "epochs": [2, 5, 7]}) | {"ground_truth": truth}
    found = Arms(chosen, CATALOGUE)
    assert found.shadowed == [("wine", "a"), ("houses", "a"), ("wine", "b")]
    assert found.shadow_settings("wine", "b") == found.settings("wine", "b") | {"epochs": [7]}
    truth["epochs"] = [1, 5, 7]
    assert found.shadow_settings("wine", "b")["epochs"] == [5, 7]
    assert found.shadow_settings("houses", "a")["epochs"] == [1]
    assert Arms(chosen | {"ground_truth": None}, CATALOGUE).shadowed == []
