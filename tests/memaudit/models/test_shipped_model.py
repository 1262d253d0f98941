"""The shipped model can be opened as the catalogue says."""

from conftest import load

from memaudit.common.project_paths import PROJECT
from memaudit.models.shipped_model import SHIPPED, SHIPPED_CARD
from memaudit.models.tabicl import TabICLBranch


def test_the_shipped_model_is_that_of_the_catalogue():
    entry = load()["models"]["tabicl-small"]
    assert PROJECT / entry["path"] == SHIPPED
    assert {key: entry.get(key, "classification") for key in ("task", "options")} == {
        key: SHIPPED_CARD[key] for key in ("task", "options")
    }
    assert TabICLBranch.of_file(SHIPPED, SHIPPED_CARD, "cpu").task == "classification"
