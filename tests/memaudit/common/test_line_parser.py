"""One line for a wrong command line, under the name by which the command was called."""

import sys

import pytest

from memaudit.common.line_parser import LineParser, program


@pytest.mark.parametrize(
    ("called", "name"),
    [("/usr/bin/memaudit", "memaudit"), ("/work/memaudit/__main__.py", "./memaudit"), ("pytest", "./memaudit")],
)
def test_a_command_is_named_as_it_was_called(monkeypatch, called, name):
    monkeypatch.setattr(sys, "argv", [called])
    assert program() == name


def test_an_error_is_one_line_with_the_help_to_read(capsys):
    parser = LineParser(prog="memaudit")
    parser.add_subparsers(required=True, dest="command").add_parser("scan").add_argument("file")
    with pytest.raises(SystemExit) as stop:
        parser.parse_args(["scan"])
    assert stop.value.code == 2
    message = "the following arguments are required: file"
    assert capsys.readouterr().err == f"memaudit: {message}; see memaudit scan --help\n"
