"""What a run fetches is counted by kind, and the page on clusters says what the papers' config needs."""

import re

import pytest
from conftest import PROJECT, load

from memaudit.workflow.downloads import downloads, stored_bytes, told
from memaudit.workflow.study_catalogue import prepare

HUB = {"repo": "a/b", "revision": None}


def test_what_is_fetched_is_counted_by_kind_and_one_file_once():
    config = {
        "datasets": {"wine": {"source": "sklearn"}, "adult": {"source": "openml"}, "news": {"source": "hub"}},
        "models": {name: {"hub": HUB | {"file": "w.ckpt"}, "parameters": None} for name in ("raw", "deployed")},
        "language_models": {"own": {"hub": None, "parameters": 5e9}, "opt": {"hub": HUB, "parameters": 2e9}},
    }
    jobs = {
        "data_fetch_table": ["wine", "adult"],
        "ltmia_fetch_corpus": ["news"],
        "models_fetch_checkpoint": ["raw", "deployed"],
        "ltmia_fetch_model": ["own", "opt"],
        "lira_query_shadows": ["wine"],
    }
    found = downloads(config, {rule: dict.fromkeys(names) for rule, names in jobs.items()})
    assert found == {"tables": 1, "corpora": 1, "checkpoints": 1, "language models": 1, "weights": 2e9}
    assert told(found) == (
        "1 table, 1 corpus, 1 checkpoint and 1 language model (2.0 billion weights: 4 GB in half precision, 8 in full)"
    )
    assert told({"tables": 3, "weights": 0.0}) == "3 tables"
    assert told({"tables": 1200, "weights": 0.0}) == "1,200 tables"
    little = "1 checkpoint (27.6 million weights: 55 MB in half precision, 110 in full)"
    assert told({"checkpoints": 1, "weights": 27.6e6}) == little
    assert told(downloads(config, {"data_fetch_table": {"wine": None}})) == ""


@pytest.mark.parametrize(
    ("hub", "parameters", "found"),
    [(HUB, 2e9, 8e9), (HUB, None, 0.0), (None, 2e9, 0.0)],
    ids=["hub", "unknown", "local"],
)
def test_a_fetched_model_is_stored_in_full_precision(hub, parameters, found):
    assert stored_bytes({"hub": hub, "parameters": parameters}) == found


@pytest.fixture
def workload(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("HF_TOKEN", "HF_ENDPOINT"):
        monkeypatch.delenv(name, raising=False)
    return prepare(load("paper"), PROJECT)[3]


def test_the_page_on_clusters_says_what_the_papers_config_needs(workload):
    text = (PROJECT / "docs/cluster.md").read_text(encoding="utf-8")
    section = re.search(r"### What it needs before it starts\n(.*?)\n##", text, re.DOTALL)[1]
    assert f"downloads {told(workload.downloads())}." in section
    needs = " ".join(workload.missing().values())
    assert set(re.findall(r"https://\S+", needs)) == set(re.findall(r"<(https://\S+)>", section))
    assert set(re.findall(r"there is no (data/\S+);", needs)) == set(re.findall(r"`(data/\S+)`", section))
