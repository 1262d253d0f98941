"""The workflow is run from any folder, with config files and profiles of the project by their names there."""

import sys

import pytest
from conftest import PROJECT

from memaudit.common.snakemake_command import config_files, snakemake_command


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    (tmp_path / "mine.yaml").touch()
    monkeypatch.chdir(tmp_path)


def arguments(*given):
    """What Snakemake gets of the given arguments."""
    command = snakemake_command(given)
    start = [sys.executable, "-m", "snakemake", "--snakefile", str(PROJECT / "Snakefile")]
    start += ["--workflow-profile", "none", "--cores", "all", "--rerun-triggers", "params", "input", "mtime"]
    start += ["software-env", "--show-failed-logs", "--rerun-incomplete"]
    assert command[: len(start)] == start
    return command[len(start) :]


@pytest.mark.parametrize("name", ["slurm", "profiles/slurm"])
def test_a_profile_of_the_project_becomes_its_absolute_path(name):
    found = arguments("--profile", name, "--jobs", "3")
    assert found == ["--profile", str(PROJECT / name), "--jobs", "3"]
    assert arguments(f"--profile={name}") == [f"--profile={PROJECT / name}"]
    assert arguments("--profile", "mine") == ["--profile", "mine"]


def test_a_profile_of_ones_own_is_taken_before_the_projects(tmp_path, monkeypatch):
    (tmp_path / "home/.config/snakemake/slurm").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert arguments("--profile", "slurm") == ["--profile", "slurm"]
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "slurm").mkdir()
    assert arguments("--profile", "slurm") == ["--profile", "slurm"]


def test_config_files_are_the_users_or_the_projects():
    found = arguments("lira", "--configfile", "config/smoke.yaml", "mine.yaml", "none.yaml", "-n", "rules")
    smoke = str(PROJECT / "config/smoke.yaml")
    assert arguments("--configfile=config/smoke.yaml") == [f"--configfile={smoke}"]
    assert found == ["lira", "--configfile", smoke, "mine.yaml", "none.yaml", "-n", "rules"]


def test_config_files_are_all_values_up_to_the_next_option():
    smoke = str(PROJECT / "config/smoke.yaml")
    given = ["lira", "--configfile", "config/smoke.yaml", "none.yaml", "-n", "rules"]
    assert config_files(given) == [smoke, "none.yaml"]
    assert config_files(["--configfiles=mine.yaml", "lira"]) == ["mine.yaml"]
    assert config_files(["lira", "--cores", "2"]) == []
