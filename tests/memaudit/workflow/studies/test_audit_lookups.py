"""Look-ups of rules/audit.smk, with and without a section `audit`."""

from types import SimpleNamespace

import pytest
from conftest import PROJECT, load

from memaudit.common.errors import AuditError
from memaudit.workflow.run_config import RunConfig
from memaudit.workflow.studies.audit_lookups import Audit

WINE = SimpleNamespace(dataset="wine")
SECTION = {"dataset": "wine", "facts": "facts.json", "threats": ["labels"], "complete": True, "epsilons": []}


@pytest.fixture
def audit():
    found = Audit(RunConfig(load("smoke"), PROJECT))
    found.config = SECTION | {"models": {"main": "a", "model_2": "b"}, "finetune": False}
    return found


def test_without_a_section_no_table_has_its_rules_and_the_target_says_so():
    audit = Audit(RunConfig(load("smoke"), PROJECT))
    assert (audit.dataset, audit.other_models) == ("-", [])
    with pytest.raises(AuditError, match="audit: this config has no section `audit`"):
        audit.target(None)


def test_the_target_is_the_page_of_the_table(audit):
    assert audit.target(None) == "<results>/audit/wine/index.html"
    assert (audit.dataset, audit.other_models, audit.facts(WINE)) == ("wine", ["model_2"], "facts.json")


def test_params_are_the_requested_keys_or_all(audit):
    assert audit.section("dataset")(WINE) == {"dataset": "wine"}
    assert audit.section()(WINE) == audit.config


def test_a_part_is_there_in_the_second_stage_for_its_threat(audit):
    files = audit.mitigations
    assert audit.complete(files)(WINE) == "<results>/scores/audit/wine/mitigations.parquet"
    assert audit.complete(files, threat="labels")(WINE) == files(WINE)
    assert audit.complete(files, threat="poison")(WINE) == []
    audit.config["complete"] = False
    assert audit.complete(files)(WINE) == []


def test_extras_are_there_where_they_are_requested(audit):
    assert (audit.private(WINE), audit.public(WINE), audit.tuned(WINE)) == ([], [], [])
    audit.config |= {"epsilons": [1.0], "finetune": True}
    audit.run.config["datasets"]["wine"]["public"] = "facts.yaml"
    assert audit.private(WINE) == [f"<results>/scores/tabpate/wine/{kind}.parquet" for kind in ("utility", "attack")]
    assert audit.public(WINE) == "facts.yaml"
    assert audit.tuned(WINE)[1] == "<results>/scores/iclmem/outcomes.parquet"
    assert audit.group_scores(WINE) == "<results>/scores/audit/wine/groups.parquet"
    assert audit.group_names(WINE) == "<results>/data/wine/groups.json"
