"""One line for a wrong command line."""

import pytest

from memaudit.common.line_parser import LineParser


def a_parser():
    parser = LineParser(prog="memaudit")
    audit = parser.add_subparsers(required=True, dest="command").add_parser("audit")
    audit.add_argument("table")
    audit.add_argument("--minutes", type=float)
    audit.add_argument("--predictions", nargs=2)
    audit.remedies = {"argument --predictions: expected 2 arguments": "two files are wanted"}
    return parser


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--minuts", "2"], "unrecognized arguments: --minuts 2; did you mean --minutes?"),
        (["--minuts=2"], "unrecognized arguments: --minuts=2; did you mean --minutes?"),
        (["more", "--xyz"], "unrecognized arguments: more --xyz"),
        (["--predictions", "one"], "argument --predictions: expected 2 arguments: two files are wanted"),
    ],
)
def test_an_unknown_option_has_the_closest_one_and_the_help_of_its_subcommand(capsys, arguments, line):
    with pytest.raises(SystemExit) as stop:
        a_parser().parse_args(["audit", "t.csv", *arguments])
    assert stop.value.code == 2
    assert capsys.readouterr().err == f"memaudit: {line}; see memaudit audit --help\n"


def test_a_parser_without_subcommands_names_itself(capsys):
    with pytest.raises(SystemExit):
        LineParser(prog="memaudit scan").parse_args(["--helb"])
    assert capsys.readouterr().err == (
        "memaudit: unrecognized arguments: --helb; did you mean --help?; see memaudit scan --help\n"
    )


def test_an_error_is_one_line_with_the_help_to_read(capsys):
    parser = LineParser(prog="memaudit")
    parser.add_subparsers(required=True, dest="command").add_parser("scan").add_argument("file")
    with pytest.raises(SystemExit) as stop:
        parser.parse_args(["scan"])
    assert stop.value.code == 2
    message = "the following arguments are required: file"
    assert capsys.readouterr().err == f"memaudit: {message}; see memaudit scan --help\n"
