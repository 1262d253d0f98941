"""The page of tuned settings says what was chosen, with what effort, and which bounds were looked at."""

import pytest

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
    tried = [len(one["scores"]) for tasks in shipped["arms"].values() for one in tasks[task].values()]
    assert set(tried) == {shipped["effort"]["candidates"]}
    assert len(tried) == 2 * len(shipped["arms"])
    assert all(
        one["settings"] == one["candidates"][one["scores"].index(max(one["scores"]))]
        for tasks in shipped["arms"].values()
        for one in tasks[task].values()
    )
