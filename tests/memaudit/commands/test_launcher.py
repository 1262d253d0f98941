"""The subcommands have one shape: help, one line for a wrong command, and their own exit codes."""

import resource
import subprocess
import sys

import pytest
from audit_folders import finished
from conftest import with_library

from memaudit.auditing import command_line
from memaudit.commands import launcher, run_workflow


@pytest.mark.parametrize("command", [*launcher.PARTS, *run_workflow.TARGETS])
def test_every_command_has_help_in_a_second_without_any_package(command):
    """-S leaves packages out, as before the environment is built. Seconds are of CPU, for machines are busy."""
    arguments = [sys.executable, "-S", "-s", "-B", "-m", "memaudit", command, "--help"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(arguments, env=with_library(given={}), capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.returncode == 0, done.stderr
    assert f"usage: ./memaudit {command}" in done.stdout
    assert after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime < 1


def test_the_help_of_all_names_every_command_and_imports_none(monkeypatch, capsys):
    monkeypatch.setattr(launcher, "import_module", None)
    with pytest.raises(SystemExit) as stop:
        launcher.main(["--help"])
    assert stop.value.code == 0
    assert {*launcher.PARTS, *run_workflow.TARGETS} <= set(capsys.readouterr().out.split())


def test_a_stopped_command_is_one_line(monkeypatch, capsys):
    def stop(arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(run_workflow, "main", stop)
    assert launcher.main(["run"]) == 130
    assert capsys.readouterr().err == "memaudit: stopped\n"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--help"], 0),
        (["run", "--help"], 0),
        (["diff", "a", "b"], launcher.CUT_OFF),
        (["record", "17", "--in", "a"], launcher.CUT_OFF),
    ],
)
def test_a_reader_that_ends_early_costs_no_traceback(tmp_path, monkeypatch, arguments, code):
    """As with `| head`: the pipe is closed before anything is written. argparse passes over it for its help."""
    monkeypatch.chdir(tmp_path)
    for name in "ab":
        finished(tmp_path / name)
    script = f"import sys; from memaudit.commands.launcher import main; input(); sys.exit(main({arguments}))"
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with subprocess.Popen([sys.executable, "-c", script], **pipes, text=True) as running:
        running.stdout.close()
        running.stdin.write("\n")
        running.stdin.close()
        assert (running.wait(), running.stderr.read()) == (code, "")


@pytest.mark.parametrize("arguments", [[], ["scam"], ["scan"], ["diff", "a"], ["audit"]])
def test_a_wrong_command_is_one_line(capsys, arguments):
    with pytest.raises(SystemExit) as stop:
        launcher.main(arguments)
    assert stop.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_an_audit_gets_its_arguments_unchanged(monkeypatch):
    given = ["audit", "t.csv", "--target", "y", "--", "--jobs", "3"]
    monkeypatch.setattr(command_line, "main", lambda arguments: arguments)
    assert launcher.main(given) == given
