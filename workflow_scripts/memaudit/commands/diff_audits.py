"""`./memaudit diff OLD NEW`: what differs between two finished audits."""

import argparse
import sys
from typing import Any

from memaudit.common.errors import AuditError, printable
from memaudit.common.screen_lines import show

COMPARABLE, OTHER, FAULT = 0, 1, 2


def add(commands: Any) -> None:
    """Add the subcommand to a parser's subcommands."""
    parser = commands.add_parser(
        "diff",
        description="Compare the folders of two audits. Exit code 0: their numbers can be compared; 1: they "
        "cannot (another table, model or adversary); 2: a folder holds no finished audit.",
    )
    parser.add_argument("old", metavar="OLD", help="folder of an audit")
    parser.add_argument("new", metavar="NEW", help="folder of another audit")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Compare and print; returns the exit code."""
    from memaudit.auditing.running import finished_audit
    from memaudit.commands import audit_differences

    try:
        old, new = finished_audit.read(options.old), finished_audit.read(options.new)
    except AuditError as error:
        print(f"memaudit: {printable(str(error))}", file=sys.stderr)
        return FAULT
    show(audit_differences.lines(old, new))
    return OTHER if audit_differences.obstacles(old, new) else COMPARABLE
