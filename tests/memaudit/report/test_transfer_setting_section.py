"""A published run of the learned attack beside the paper: what it says follows from its JSON, whatever its tables."""

import copy

import pytest

from memaudit.common.io import read_json
from memaudit.report import docs_pages
from memaudit.report.transfer_setting_section import WANTED, section


@pytest.fixture
def published(project):
    return read_json(project / "docs/results/ltmia_texts.json")


def test_the_setting_stands_beside_that_of_the_paper(published):
    config = published["config"]["ltmia"]
    config["texts"]["parts"]["member"], config["texts"]["length"] = 512, 128
    found = section(published)
    assert "| members of a combination | 512 | 10000 |" in found["table"]
    assert "| tokens of a text | 128 | 128 |" in found["table"]


def test_base_models_are_those_of_the_published_table(published):
    head = "| base | parameters | pre-training texts |\n| :-- | :-- | :-- |\n"
    published["tables"]["ltmia_models"] = {"text": head + "| a | 500 | 60 |\n| b | 8000000000 |  |\n"}
    found = section(published)
    assert "| weights of the largest model | 8000000000 | 7000000000 |" in found["table"]
    assert "| base models pre-trained by others | 1 | 20 |" in found["table"]
    del published["tables"]["ltmia_models"]
    assert "| weights of the largest model |  | 7000000000 |" in section(published)["table"]


def test_the_cost_is_that_of_a_combination(published):
    published["made"]["cpu_seconds"] = 700.0  # ten models on three corpora, and eight on five
    assert section(published)["cost"] == "10 CPU seconds for each of 70 combinations, 40 of them held out"


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [("0.1", "0.2", "Ahead: "), ("-0.2", "-0.1", "Behind: "), ("-0.1", "0.2", "Not shown, since")],
)
def test_a_lead_is_said_by_its_interval(published, low, high, said):
    rows = published["studies"]["ltmia"]["headlines"]["rows"]
    rows[:] = [rows[0] | {"low": low, "high": high, "value": "gap", "sentence": "The lead."}]
    lead = section(published)["lead"]
    assert lead[0].startswith(said)
    assert lead[0].endswith("The lead.")


def test_tables_that_are_not_published_are_named_on_the_page(published, project):
    demo = read_json(project / "docs/results/demo.json")
    whole = copy.deepcopy(published)
    whole["tables"] |= {name: {"text": "| a |"} for name in WANTED}
    few = {**published, "tables": {name: one for name, one in published["tables"].items() if name not in WANTED}}
    for name in WANTED:
        assert f"(`{name}`). `make publish RUN=ltmia_texts` adds it" in docs_pages.results_of(few, demo)
    assert "Not in this publication" not in docs_pages.results_of(whole, demo)


def test_numbers_of_the_trend_are_those_of_the_claims(published):
    rows = {row["id"]: row for row in published["studies"]["ltmia"]["claims"]["rows"]}
    trend = section(published)["trend"]
    assert any(rows["ltmia-diversity-generalizes"]["ours"] in sentence for sentence in trend)


def test_a_run_without_the_learned_attack_has_no_such_section(project):
    assert section(read_json(project / "docs/results/attacks.json")) is None
