"""One line for a wrong command line."""

import pytest

from memaudit.common.line_parser import LineParser


def test_an_error_is_one_line_with_the_help_to_read(capsys):
    parser = LineParser(prog="memaudit")
    parser.add_subparsers(required=True, dest="command").add_parser("scan").add_argument("file")
    with pytest.raises(SystemExit) as stop:
        parser.parse_args(["scan"])
    assert stop.value.code == 2
    message = "the following arguments are required: file"
    assert capsys.readouterr().err == f"memaudit: {message}; see memaudit scan --help\n"
