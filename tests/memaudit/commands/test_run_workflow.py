"""`memaudit run` and the subcommands of targets hand their arguments to Snakemake, which takes their place."""

import os
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from memaudit.commands import launcher, run_workflow
from memaudit.common.snakemake_command import NO_START, snakemake_command

MINE = "config/smoke.yaml"  # of the project, in whichever folder the tests run


@pytest.fixture
def started(monkeypatch):
    """The commands that take the place of this process; it goes on."""
    commands = []
    monkeypatch.setattr(os, "execve", lambda program, command, environment: commands.append(command))
    return commands


@pytest.mark.parametrize(
    ("given", "passed"),
    [
        (["run"], []),
        (["run", "lira", "-n", "--configfile", MINE], ["lira", "-n", "--configfile", MINE]),
        (["provenance"], ["provenance"]),
        (
            ["release", "--cores", "2", "--configfile", MINE],
            ["release", "--cores", "2", "--configfile", MINE],
        ),
        (["predict-own", "-n"], ["predict_own", "-n"]),
        (["attack-texts", "-n"], ["ltmia_attack", "-n"]),
    ],
)
def test_a_subcommand_is_a_command_of_snakemake(started, given, passed):
    launcher.main(given)
    assert started == [snakemake_command(passed)]


@pytest.mark.parametrize(("code", "times"), [(0, 0), (1, 1)])
def test_a_plan_is_quiet_unless_it_fails(monkeypatch, started, code, times):
    tried = []
    monkeypatch.setattr(
        subprocess, "run", lambda command, env, check: tried.append(command) or SimpleNamespace(returncode=code)
    )
    launcher.main(["plan", "--configfile", MINE])
    assert tried == [snakemake_command(["plan", "--quiet", "all", "--configfile", MINE])]
    assert started == times * [snakemake_command(["plan", "--configfile", MINE])]


@pytest.mark.parametrize(("no_start", "snakemakes", "code"), [(True, 0, 1), (True, 1, 1), (False, 0, 0)])
def test_a_plan_of_a_run_that_would_not_start_has_another_exit_code(monkeypatch, started, no_start, snakemakes, code):
    """The plan, or the check of the config before it, says so by a file, whose path it is given."""

    def planned(command, env, check):
        if no_start:
            Path(env[NO_START]).touch()
        return SimpleNamespace(returncode=snakemakes)

    monkeypatch.setattr(subprocess, "run", planned)
    assert launcher.main(["plan"]) == code
    assert not started


@pytest.mark.parametrize("name", run_workflow.TARGETS)
def test_help_starts_nothing(capsys, started, name):
    assert launcher.main([name, "--configfile", MINE, "--help"]) == 0
    assert f"usage: ./memaudit {name} [ARGUMENT ...]" in capsys.readouterr().out
    assert not started


def test_a_config_file_without_its_option_is_one_line(capsys, started):
    with pytest.raises(SystemExit) as stop:
        launcher.main(["plan", "mine.yaml"])
    assert stop.value.code == 2
    assert capsys.readouterr().err.startswith("memaudit: mine.yaml: name config files behind --configfile")


@pytest.mark.parametrize("name", ["run", "plan"])
def test_config_files_that_cannot_be_read_are_one_line(capsys, started, name):
    given = ["--cores", "2", "--configfile", MINE, "none.yaml", "lira", "--dry-run"]
    assert launcher.main([name, *given]) == 1
    assert capsys.readouterr().err == (
        "memaudit: none.yaml: there is no such config file; give its path behind --configfile; lira: there is no such "
        "config file; give its path behind --configfile, and targets in front of --configfile\n"
    )
    assert not started


def test_targets_are_rules(project):
    rules = "".join(path.read_text(encoding="utf-8") for path in (project / "rules").rglob("*.smk"))
    for target in run_workflow.TARGETS.values():
        assert target.rule is None or f"\nrule {target.rule}:" in rules
