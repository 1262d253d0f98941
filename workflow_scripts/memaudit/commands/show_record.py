"""`./memaudit record ROW [--in FOLDER]`: one record's risk in a finished audit."""

import argparse
import sys
from pathlib import Path
from typing import Any

from memaudit.common.errors import AuditError, printable
from memaudit.common.screen_lines import show

RATED, UNRATED, FAULT = 0, 1, 2


def add(commands: Any) -> None:
    """Add the subcommand to a parser's subcommands."""
    parser = commands.add_parser(
        "record",
        description="Show one record's risk in a finished audit. Exit code 0: it was rated; 1: it was not, and the "
        "line says why; 2: there is no such row or no such audit.",
    )
    parser.add_argument("row", metavar="ROW", type=int, help="row of the table, from 1, the header not counted")
    parser.add_argument(
        "--in", dest="folder", metavar="FOLDER", help="the audit's folder; default the only audit-... here"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Look the record up and print; returns the exit code."""
    from memaudit.auditing import record_lookup
    from memaudit.auditing.running import finished_audit

    try:
        audit = finished_audit.read(options.folder or _only_audit())
        line = record_lookup.risk_of(audit, options.row)
    except AuditError as error:
        print(f"memaudit: {printable(str(error))}", file=sys.stderr)
        return FAULT
    show(record_lookup.described(audit, line) if line else [record_lookup.unrated(audit, options.row)])
    return RATED if line else UNRATED


def _only_audit() -> Path:
    """The only folder of an audit in the current one. Raises AuditError for none and for several."""
    found = sorted(path.parent for path in Path().glob("audit-*/summary.json"))
    if len(found) != 1:
        several = f"several audits are here ({', '.join(repr(str(one)) for one in found[:5])})"
        raise AuditError(f"{several if found else 'no audit-... is here'}; name the folder with --in")
    return found[0]
