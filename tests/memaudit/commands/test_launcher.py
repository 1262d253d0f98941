"""The subcommands have one shape: help, one line for a wrong command, and their own exit codes."""

import pytest

from memaudit.auditing import command_line
from memaudit.commands import launcher


@pytest.mark.parametrize("command", ["audit", "scan", "diff", "record"])
def test_every_command_has_help(capsys, command):
    with pytest.raises(SystemExit) as stop:
        launcher.main([command, "--help"])
    assert stop.value.code == 0
    assert f"usage: ./memaudit {command}" in capsys.readouterr().out


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
