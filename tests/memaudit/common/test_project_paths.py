"""The project's folders are found from the library's place, and a config's files in the working folder first."""

from pathlib import Path

from memaudit.common.project_paths import ENVS, PROJECT, SCRIPTS, config_path


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
