"""The parts of the workflow, and the rules files and view files that belong to them."""

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
