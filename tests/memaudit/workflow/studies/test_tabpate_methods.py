"""Methods of the study tabpate: ablations of one of them, and the releases of every table."""

import pytest

from memaudit.privacy.release_methods import settings_at
from memaudit.workflow.studies.tabpate_methods import Methods


def method(name, datasets=None, epsilons=None, **settings):
    return {"method": name, "held_out": None, "settings": settings, "datasets": datasets, "epsilons": epsilons}


@pytest.fixture
def methods():
    """Three methods, one of them on one table at one epsilon, and an ablation of the first."""
    arms = {
        "ours": method("tabpate", alpha=None, labels="votes", teachers=10),
        "answers": method("query-time", teachers=10),
        "mst": method("mst", ["wine"], [1.0], rows=100, iterations=None),
    }
    ablations = {"base": "ours", "datasets": ["wine"], "epsilons": [1.0], "vary": {"alpha": [0.2], "teachers": [5]}}
    return Methods({"arms": arms, "ablations": ablations, "epsilons": [1.0, 10.0], "repeats": 2})


def test_an_ablation_changes_one_setting_of_the_base(methods):
    base, varied = methods.compared["ours"], methods.varied
    assert list(varied) == ["ours alpha 0.2", "ours teachers 5"]
    assert varied["ours alpha 0.2"]["settings"] == base["settings"] | {"alpha": 0.2, "prior": "moments"}
    assert varied["ours teachers 5"]["settings"] == base["settings"] | {"teachers": 5}
    assert (varied["ours teachers 5"]["datasets"], varied["ours teachers 5"]["epsilons"]) == (["wine"], [1.0])


def test_releases_are_every_method_epsilon_and_repeat_of_a_table(methods):
    both = [["ours", epsilon, repeat] for epsilon in (1.0, 10.0) for repeat in (0, 1)]
    assert methods.releases("beer", "contexts") == both
    ablated = [[name, 1.0, repeat] for name in ("ours alpha 0.2", "ours teachers 5") for repeat in (0, 1)]
    assert methods.releases("wine", "contexts") == both + ablated
    assert methods.releases("wine", "synthetic") == [["mst", 1.0, 0], ["mst", 1.0, 1]]
    assert methods.releases("beer", "synthetic") == []


def test_tuned_settings_are_those_of_the_task_and_epsilon_and_tables_and_ablations_change_them():
    ours = method("tabpate", teachers=10, queries=9) | {"tuned": "ours", "by_dataset": {"beer": {"queries": 3}}}
    ablations = {"base": "ours", "datasets": ["wine"], "epsilons": [1.0], "vary": {"queries": [7]}}
    tuned = {"ours": {"classification": {"1": {"settings": {"teachers": 50, "queries": 99}}}}}
    section = {"arms": {"ours": ours}, "ablations": ablations, "epsilons": [1.0, 10.0], "repeats": 1}
    methods = Methods(section, {"wine": "classification", "beer": "classification", "rye": "regression"}, tuned)
    assert methods.settings("ours", "wine", 1.0) == {"teachers": 50, "queries": 99}
    assert methods.settings("ours", "wine", 10.0) == {"teachers": 10, "queries": 9}
    assert methods.settings("ours", "rye", 1.0) == {"teachers": 10, "queries": 9}
    assert methods.settings("ours", "beer", 1.0) == {"teachers": 50, "queries": 3}
    assert methods.settings("ours", "beer", 10.0)["queries"] == 3
    assert methods.settings("ours queries 7", "wine", 1.0) == {"teachers": 50, "queries": 7}
    entry = methods.making("contexts", "wine")["ours"]
    assert settings_at(entry, 1.0) == methods.settings("ours", "wine", 1.0)
    assert settings_at(entry, 10.0) == methods.settings("ours", "wine", 10.0)


def test_the_overview_has_tuned_settings_by_task_and_epsilon():
    answers = method("query-time", teachers=10) | {"tuned": "votes"}
    tuned = {"votes": {"classification": {"1": {"settings": {"teachers": 50}}, "10": {"settings": {"teachers": 5}}}}}
    section = {"arms": {"answers": answers, "fixed": method("query-time", teachers=3)}}
    answers, fixed = Methods(section, {"wine": "classification", "rye": "regression"}, tuned).overview
    assert answers[-1] == "classification, epsilon 1: teachers 50; classification, epsilon 10: teachers 5"
    assert fixed[-1] == "teachers 3"


def test_a_method_is_left_out_where_its_form_was_chosen(methods):
    methods.compared["ours"]["chosen_on"] = ["wine"]
    assert not [one for one in methods.releases("wine", "contexts") if one[0] == "ours"]
    assert [one[0] for one in methods.releases("beer", "contexts")] == ["ours"] * 4


def test_a_synthesis_serves_all_repeats(methods):
    assert methods.synthetic("wine") == [("mst", 1.0)]


def test_methods_are_told_apart_by_what_they_make_and_where_their_queries_come_from(methods):
    assert list(methods.making("answers")) == ["answers"]
    assert methods.making("synthetic")["mst"].keys() == {"method", "held_out", "settings"}
    assert methods.labelled == ["ours"]
    assert methods.by_queries == ["ours", "ours alpha 0.2"]


def test_the_overview_says_what_a_method_pays_for(methods):
    ours, answers, mst = methods.overview
    assert ours == ["ours", "TabPATE", "no", "a context", "labels", "labels votes, teachers 10"]
    assert answers[4] == "every answer"
    assert mst[-1] == "rows 100"
