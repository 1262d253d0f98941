"""The project's folders are found from the library's place, and a config's files in the working folder first."""

from pathlib import Path

from memaudit.common import project_paths
from memaudit.common.project_paths import CALLED_FROM, ENVS, PROJECT, SCRIPTS, config_path, python_of


def test_the_folders_are_those_of_this_checkout(project):
    assert project == PROJECT
    assert (SCRIPTS / "memaudit" / "workflow").is_dir()
    assert (ENVS / "tabular.yaml").exists()


def test_a_file_of_a_config_is_the_working_folders_then_the_projects(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert config_path("config/claims.yaml") == PROJECT / "config/claims.yaml"
    (tmp_path / "config").mkdir()
    (tmp_path / "config/claims.yaml").touch()
    assert config_path("config/claims.yaml") == Path("config/claims.yaml")
    assert config_path("nowhere.csv") == Path("nowhere.csv")
    assert config_path("~/nowhere.csv") == Path.home() / "nowhere.csv"
    assert config_path(tmp_path / "absolute.csv") == tmp_path / "absolute.csv"


def test_an_environment_is_the_working_folders_then_that_of_the_audits_caller_then_the_projects(tmp_path, monkeypatch):
    name, folders = ".venv-none", [tmp_path / "audit", tmp_path / "desk", tmp_path / "project"]
    monkeypatch.setattr(project_paths, "PROJECT", folders[2])
    monkeypatch.setenv(CALLED_FROM, str(folders[1]))
    for folder in folders:
        folder.mkdir()
    monkeypatch.chdir(folders[0])
    assert python_of(name) == folders[1] / name / "bin/python"  # what a message names
    for folder in reversed(folders):
        (folder / name / "bin").mkdir(parents=True)
        (folder / name / "bin/python").touch()
        assert python_of(name) == folder / name / "bin/python"
