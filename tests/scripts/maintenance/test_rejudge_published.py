"""The config of a published run is read in the order of its files, since JSON has its keys sorted."""

import runpy

from conftest import PROJECT

from memaudit.common.io import read_json

SCRIPT = runpy.run_path(str(PROJECT / "workflow_scripts/maintenance/rejudge_published.py"))


def test_keys_stand_as_in_the_files_and_unknown_ones_behind():
    config = {"b": {"y": 1, "z": 2, "x": 3}, "a": [{"d": 1, "c": 2}], "new": 1}
    ordered = SCRIPT["_in_order"](config, {"a": 0, "b": {"z": 0, "y": 0, "gone": 0}})
    assert ordered == config
    assert list(ordered) == ["a", "b", "new"]
    assert list(ordered["b"]) == ["z", "y", "x"]


def test_the_published_criterion_is_the_papers_rule():
    """The first of the config's rules, and not the first by the alphabet."""
    published = read_json(PROJECT / "docs/results/demo.json")
    assert next(iter(published["config"]["iclmem"]["rules"])) == "as_tabulated"
    forms = SCRIPT["_views"](published)["iclmem"].headlines["sentences"]
    (form,) = (form for form in forms if "the published criterion detects memorization" in form["sentence"])
    assert form["values"]["published"]["where"]["rule"] == "as_written"
