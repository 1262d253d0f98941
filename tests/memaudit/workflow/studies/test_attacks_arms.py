"""Arms of the study attacks: the tables, contexts and poisons of each."""

import pytest
from attacks_study import DEPLOYED, SMALL, arm, two_tables

from memaudit.workflow.studies.attacks_arms import Arms


@pytest.fixture
def section():
    return two_tables().config


@pytest.fixture
def arms():
    return two_tables().arms


def test_a_table_has_the_arms_that_do_not_name_others(arms):
    assert arms.of_table("wine") == ["main", "settings", "defended", "other_mode"]
    assert arms.of_table("digits") == ["main", "settings"]
    assert arms.of_table("digits", among=["other_mode", "main"]) == ["main"]


def test_an_arm_with_an_empty_list_has_no_table(section):
    section["arms"]["settings"]["datasets"] = []
    assert Arms(section).of_table("wine") == ["main", "defended", "other_mode"]
    assert Arms(section).of_table("digits") == ["main"]


def test_an_arm_has_a_context_for_each_set_and_variant(arms):
    assert {name: arms.contexts(name) for name in arms.of_table("wine")} == {
        "main": 40,
        "settings": 48,
        "defended": 32,
        "other_mode": 8,
    }


def test_arms_with_the_same_variants_take_what_the_larger_one_draws(section):
    arms = Arms(section)
    drawn = {name: arms.drawn_by("wine", name) for name in arms.of_table("wine")}
    assert drawn == {"main": "main", "settings": "settings", "defended": "defended", "other_mode": "main"}
    section["arms"]["other_mode"]["sets"] = 48
    assert arms.drawn_by("wine", "other_mode") == "other_mode"


def test_an_arm_takes_contexts_of_arms_of_its_own_tables_alone(section):
    section["arms"]["defended"] = arm(8, {"context": 10}, datasets=["wine"])
    section["arms"]["other_mode"] = arm(8, {"context": 10}, model=DEPLOYED)
    arms = Arms(section)
    assert arms.drawn_by("wine", "other_mode") == "defended"
    assert arms.drawn_by("digits", "other_mode") == "other_mode"


def test_records_are_protected_by_arms_that_change_their_layer(arms):
    assert [name for name in arms.of_table("wine") if arms.protects(name)] == ["defended"]


def test_no_more_contexts_are_poisoned_than_an_arm_has(arms):
    assert arms.poisoned("wine") == ["main", "other_mode"]
    assert arms.poisoned("digits") == ["main"]
    assert [arms.poisoned_sets(name) for name in arms.poisoned("wine")] == [16, 8]


def test_attention_is_read_of_main_and_of_arms_that_change_keys(section):
    section["attention"] |= {"datasets": ["wine", "other"], "model": DEPLOYED, "sets": 12}
    section["arms"]["defended"] = arm(16, {"keys": 4}, {"keys": 8}, {"bags": 2}, datasets=["wine"])
    arms = Arms(section)
    assert arms.attended == ["wine"]
    assert (arms.attended_by("wine"), arms.attended_by("digits")) == (["main", "defended"], [])
    assert (arms.attended_model(), arms.attended_model("defended")) == (DEPLOYED, SMALL)
    assert (arms.attended_sets("main"), arms.attended_sets("defended")) == (12, 36)
    section["attention"]["model"] = None
    assert arms.attended_model() == SMALL
