"""The parts of the workflow, and the rules files and view files that belong to them."""

import pytest
from conftest import PROJECT, load

from memaudit.workflow.study_catalogue import STUDIES, prepare


def test_each_part_has_a_rules_file_or_folder_of_its_name():
    names = [study.name for study in STUDIES]
    assert len(set(names)) == len(names)
    for name in names:
        assert (PROJECT / f"rules/{name}.smk").exists() or (PROJECT / f"rules/{name}").is_dir(), name


def test_parts_know_the_run_and_their_section():
    run, studies, _, workload = prepare(load("smoke"), PROJECT)
    assert studies["lira"].config is run.config["lira"]
    assert studies["audit"].config is None
    assert workload.run is run


@pytest.mark.parametrize(
    ("study", "key"),
    [
        ("lira", "datasets"),
        ("attacks", "datasets"),
        ("tabpate", "datasets"),
        ("iclmem", "datasets"),
        ("ltmia", "training"),
        ("predict", "cases"),
    ],
)
def test_an_empty_list_leaves_a_study_out(study, key):
    config = load("smoke")
    config[study][key] = []
    _, studies, views, workload = prepare(config, PROJECT)
    assert not studies[study].present
    assert study not in views
    assert not [rule for rule, jobs in workload.sizes().items() if rule.startswith(f"{study}_") and jobs]
    assert study not in {name for name, needs in workload.shadows().items() if needs}


def test_all_studies_can_be_left_out():
    config = load("smoke")
    for study, key in (("lira", "datasets"), ("attacks", "datasets"), ("tabpate", "datasets"), ("iclmem", "datasets")):
        config[study][key] = []
    config["ltmia"]["training"] = config["predict"]["cases"] = []
    assert list(prepare(config, PROJECT)[2]) == ["data"]
