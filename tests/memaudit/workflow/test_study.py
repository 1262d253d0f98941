"""What all parts of the workflow have in common: sizes of the jobs that prepare their tables and models."""

import pytest
from conftest import PROJECT, load

from memaudit.workflow.job_costs import size
from memaudit.workflow.run_config import RunConfig
from memaudit.workflow.study import Study


class Lira(Study):
    name = "lira"


@pytest.fixture
def study(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return Lira(RunConfig(load("smoke"), PROJECT))


def test_a_study_has_its_section_of_the_config_and_nothing_else_of_its_own(study):
    assert study.config is study.run.config["lira"]
    assert study.present
    assert (study.results, study.names, study.sizes(), study.model_uses(), study.shadows()) == ({}, {}, {}, {}, None)


def test_tables_are_fetched_deduplicated_and_split_at_the_size_of_their_cells(study):
    sizes = study.data_sizes(["wine", "digits"], ["half"])
    assert sizes["data_fetch_table"] == {"wine": size(178 * 14), "digits": size(1797 * 65)}
    assert sizes["data_deduplicate_table"] == sizes["data_fetch_table"]
    assert list(sizes["data_split_records"]) == ["wine/half", "digits/half"]
    assert study.data_sizes(["wine"])["data_split_records"] == {}


def test_models_are_fetched_at_one_price_but_for_the_disk_of_weights_that_the_catalogue_states(study):
    sizes = {"tabicl-small": size(0), "mistral-7b": size(0, stored=4 * 7.24e9)}
    assert study.fetch_sizes(list(sizes)) == {"models_fetch_checkpoint": sizes}


def test_features_are_unknown_before_a_table_is_fetched_that_the_catalogue_does_not_count(study):
    assert study.features("wine") == 13
    study.run.config["datasets"]["wine"] |= {"rows": None, "columns": None}
    assert study.features("wine") is None


def test_memory_is_four_gigabytes_unless_a_forward_pass_takes_more(study):
    assert study.asked_memory([]) == study.asked_memory([size(9), size(1, forward=1.9e9)]) == 4000
    assert study.asked_memory([size(9), size(1, forward=6.5e9)]) == 8500
