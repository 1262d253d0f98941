"""`memaudit init TABLE --target COLUMN`: a config file for the studies on a user's table, to be read and edited."""

import argparse
import shlex
import sys
from pathlib import Path
from typing import Any

from memaudit.auditing.reading import reading_options
from memaudit.auditing.reading.request import Request
from memaudit.common.command_name import program
from memaudit.common.errors import AuditError, printable
from memaudit.common.screen_lines import show

FILE = "mine.yaml"


def add(commands: Any) -> None:
    """Add the subcommand to a parser's subcommands."""
    parser = commands.add_parser(
        "init",
        description="Write a config file with comments for the studies on a table of your own; see docs/own-table.md. "
        "Exit code 1: the table cannot be read, lacks a column, or the file is already there.",
    )
    parser.add_argument("table", metavar="TABLE", help="a CSV (may be gzipped) or Parquet file")
    parser.add_argument("--target", required=True, metavar="COLUMN", help="the column that models predict")
    parser.add_argument("--task", choices=["classification", "regression"], help="by default by the target's values")
    parser.add_argument("--group", metavar="COLUMN", help="the person or household that several rows belong to")
    parser.add_argument(
        "--sensitive", metavar="COLUMN", help="what an adversary would infer; default the first feature"
    )
    reading_options.add_arguments(parser)
    parser.add_argument("--into", default=FILE, metavar="FILE", help=f"the config file; default {FILE}")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write the file and print what to do next; returns the exit code."""
    from memaudit.auditing import study_config

    file = Path(options.into)
    request = Request(
        options.table,
        options.target,
        group=options.group,
        task=options.task,
        infer=[options.sensitive] if options.sensitive else [],
        **vars(reading_options.chosen(options)),
    )
    try:
        if file.exists():
            raise AuditError(f"{options.into!r}: is there already; move it away, or give another name with --into")
        table = study_config.read(request, file.parent)
        with open(file, "x", encoding="utf-8") as text:
            text.write(study_config.written(request, table, file))
    except AuditError as error:
        print(f"memaudit: {printable(str(error))}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"memaudit: {options.into!r}: cannot be written ({error.strerror})", file=sys.stderr)
        return 1
    show([f"{options.table!r}: {table.rows} rows, {len(table.columns)} columns, {table.values}"])
    show(study_config.remarks(table))
    remedy = "if it is one, name it with --group"
    show(f"{name!r} looks like a person ({count} values): {remedy}" for name, count in table.persons.items())
    plan = f"{program()} plan --configfile {shlex.quote(options.into)}"
    show([f"wrote {options.into!r}; read it, then: {plan}"])
    return 0
