"""The page of tuned settings says what was chosen, with what effort, and which bounds were looked at."""

import pytest

from memaudit.common.compared_arms import compared_arms
from memaudit.common.io import read_json
from memaudit.common.project_paths import PROJECT
from memaudit.report import docs_pages
from memaudit.report.tuned_settings_tables import context

EFFORT = {
    "records": 1000,
    "repeats": 5,
    "delta": 1e-5,
    "tables": {"classification": ["wine"], "regression": ["linear"]},
}
FACTS = {"beer": {"source": "a codebook"}, "rye": {"source": "a summary", "bounds_from_data": ["x", "target"]}}


def tuned(**scores):
    """A file of settings of methods with these scores of their candidates, for classes at epsilon 10 and 1."""
    arms = {
        name: {
            "classification": {
                epsilon: {"settings": {"teachers": 7, "sigma1": None}, "candidates": [{}] * len(all_), "scores": all_}
                for epsilon in ("10", "1")
            }
        }
        for name, all_ in scores.items()
    }
    return {"effort": EFFORT, "arms": arms}


def test_settings_scores_and_effort_are_listed_by_epsilon():
    shown = context(tuned(votes=[0.1, 0.4, 0.3]), {"votes": {"tuned": "votes"}, "mst": {}}, FACTS)
    lines = [line for line in shown["settings"].splitlines() if "votes" in line]
    assert lines == [
        f"| votes | classification | {epsilon} | teachers 7, sigma1 none | 0.400 | 0.300 | 3 |" for epsilon in (1, 10)
    ]
    assert (shown["counts"], shown["uneven"], shown["undecided"]) == ([3], [], [])
    assert (shown["untuned"], shown["untuned_here"]) == (["mst"], [])


def test_the_cost_is_shown_of_arms_where_it_was_measured():
    one = tuned(votes=[0.1, 0.4, 0.3], sums=[0.1, 0.2])
    one["arms"]["sums"]["cpu_seconds"] = 610
    shown = context(one, {}, FACTS)
    assert (shown["minutes"], len(shown["settings"].splitlines())) == (["sums 10"], 6)
    assert "CPU minutes, where it was measured: sums 10." in docs_pages.tuned_settings(one, {}, FACTS)


def test_what_is_not_even_not_decided_or_missing_is_named():
    arms = {"votes": {"tuned": "votes"}, "sums": {"tuned": "sums"}, "other": {"tuned": "gone"}}
    shown = context(tuned(votes=[0.1, 0.4, 0.3], sums=[-1.0, -1.0]), arms, FACTS)
    assert shown["uneven"] == ["sums (classification)"]
    assert shown["undecided"] == ["sums (classification, 1)", "sums (classification, 10)"]
    assert shown["untuned_here"] == ["gone"]
    page = docs_pages.tuned_settings(tuned(votes=[0.1, 0.4, 0.3], sums=[-1.0, -1.0]), arms, FACTS)
    assert "not the same for all methods; fewer candidates for sums (classification)." in page
    assert "Missing in the file**: gone." in page


def test_bounds_from_the_data_are_named():
    lines = context(tuned(votes=[0.1, 0.4]), {}, FACTS)["bounds"].splitlines()
    assert lines[2:] == ["| beer | a codebook |  |", "| rye | a summary | x, target |"]


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_the_shipped_settings_have_the_same_effort_for_all(task):
    shipped = read_json(PROJECT / "config/tabpate_settings.json")
    tuned = {name: tasks[task] for name, tasks in shipped["arms"].items() if task in tasks}
    assert {len(one["scores"]) for tasks in tuned.values() for one in tasks.values()} == {
        shipped["effort"]["candidates"]
    }
    assert all({"10"} <= tasks.keys() <= {"1", "10"} for tasks in tuned.values())
    assert all(
        one["settings"] == one["candidates"][one["scores"].index(max(one["scores"]))]
        for tasks in tuned.values()
        for one in tasks.values()
    )


def test_every_method_that_a_config_compares_is_tuned():
    shipped = read_json(PROJECT / "config/tabpate_settings.json")
    shown = context(shipped, compared_arms(), {})
    assert (shown["untuned"], shown["untuned_here"], shown["uneven"]) == ([], [], [])
