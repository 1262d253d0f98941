"""The parts of the workflow, and the rules files and view files that belong to them."""

import re

import pytest
from conftest import PROJECT, load

from memaudit.common.errors import AuditError
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


def test_a_table_that_is_not_there_is_a_fault_with_its_line_unless_it_was_read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    own = {"source": "file", "path": "custom.csv", "target": "y", "task": "classification", "licence": "own"}
    (file := tmp_path / "mine.yaml").write_text("datasets:\n  customers:\n    source: file\n    path: custom.csv\n")
    config = load("smoke")
    config["datasets"]["customers"] = own
    prepare(config, PROJECT, [file])  # no study uses it
    config["data"]["datasets"].append("customers")
    line = f"config: datasets/customers/path: there is no file custom.csv; put the file there ({file}, line 4)"
    with pytest.raises(AuditError, match=re.escape(line)):
        prepare(config, PROJECT, [file])
    (read := tmp_path / "results/smoke/data/customers/raw.json").parent.mkdir(parents=True)
    read.write_text('{"rows": 200, "columns": {"x": "numeric", "y": "categorical"}}')
    prepare(config, PROJECT, [file])
    (sidecar := tmp_path / "results/smoke/provenance/data_fetch_table/customers.json").parent.mkdir(parents=True)
    sidecar.write_text('{"params": {"entry": {"path": "custom.csv"}}}')
    prepare(config, PROJECT, [file])
    sidecar.write_text('{"params": {"entry": {"path": "before.csv"}}}')  # what was read is of another file
    with pytest.raises(AuditError, match=re.escape(line)):
        prepare(config, PROJECT, [file])


def test_all_studies_can_be_left_out():
    config = load("smoke")
    for study, key in (("lira", "datasets"), ("attacks", "datasets"), ("tabpate", "datasets"), ("iclmem", "datasets")):
        config[study][key] = []
    config["ltmia"]["training"] = config["predict"]["cases"] = []
    assert list(prepare(config, PROJECT)[2]) == ["data"]


def test_a_ranking_of_other_records_is_not_taken_for_that_of_a_file_that_is_not_there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    config = load("smoke")
    files = {"records": "gone.parquet", "states": None, "classes": None}
    config["own"] = {"name": "reviews", "case": None, "predictor": "psmi", **files}
    prepare(config, PROJECT)  # no ranking is there
    (sidecar := tmp_path / "results/smoke/provenance/predict_rank_own/reviews.json").parent.mkdir(parents=True)
    sidecar.write_text('{"inputs": {"gone.parquet": "0"}}')
    prepare(config, PROJECT)
    sidecar.write_text('{"inputs": {"other.parquet": "0"}}')
    with pytest.raises(AuditError, match=r"own/records: there is no file gone\.parquet, and the ranking reviews is of"):
        prepare(config, PROJECT)
