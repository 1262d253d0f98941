"""The subcommands of `./memaudit`: audit, scan, diff and record, each of which is added and run by its own module."""

import sys
from collections.abc import Sequence

from memaudit.auditing import command_line
from memaudit.commands import diff_audits, scan_file, show_record

PARTS = (scan_file, diff_audits, show_record)


def main(arguments: Sequence[str]) -> int:
    """Run a command line and return the exit code, whose meaning is that of the subcommand."""
    if list(arguments[:1]) == ["audit"]:
        return command_line.main(arguments)
    parser = command_line.Parser(
        prog="./memaudit", description="Measure what a model leaks about the records in its context."
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    command_line.add_audit(commands)
    for part in PARTS:
        part.add(commands)
    options = parser.parse_args(arguments)
    try:
        return options.run(options)
    except KeyboardInterrupt:
        print("memaudit: stopped", file=sys.stderr)
        return 130
