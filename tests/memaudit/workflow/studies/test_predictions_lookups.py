"""Look-ups of rules/predictions.smk, with and without a section `predictions`."""

import pytest
from conftest import PROJECT, load

from memaudit.common.errors import AuditError
from memaudit.workflow.run_config import RunConfig
from memaudit.workflow.studies.predictions_lookups import Predictions


def test_without_a_section_its_rules_say_so():
    found = Predictions(RunConfig(load("smoke"), PROJECT))
    with pytest.raises(AuditError, match="predictions: this config has no section `predictions`"):
        found.table(None)


def test_inputs_and_params_are_those_of_the_section():
    found = Predictions(RunConfig(load("smoke"), PROJECT))
    found.config = {"table": "t.parquet", "facts": "facts.json", "fpr": 0.01}
    assert (found.table(None), found.facts(None)) == ("t.parquet", "facts.json")
    assert found.section("fpr")(None) == {"fpr": 0.01}
    assert found.section()(None) == found.config
