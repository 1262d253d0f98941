"""`./memaudit scan FILE [--table TABLE]`: whether a model's file holds rows of a table, without loading the model."""

import argparse
import sys
from typing import Any

from memaudit.auditing.reading import reading_options
from memaudit.common.errors import AuditError, printable
from memaudit.common.screen_lines import show

NONE_INSIDE, INSIDE, FAULT = 0, 1, 2


def add(commands: Any) -> None:
    """Add the subcommand to a parser's subcommands."""
    parser = commands.add_parser(
        "scan",
        description="Look for rows of a table in a model's file (pickle, joblib, .tabpfn_fit, torch, safetensors, "
        "npy, npz) without loading it. Exit code 1: rows are inside; 0: none were found; 2: it or the table could not "
        "be read, or cells of the table have two readings. Options after --table say how the table is read.",
    )
    parser.add_argument("file", metavar="FILE", help="the model's file")
    parser.add_argument("--table", metavar="TABLE", help="a CSV (may be gzipped) or Parquet file")
    reading_options.add_arguments(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Scan and print; returns the exit code."""
    from memaudit.auditing.reading import source_file
    from memaudit.scanning import containers, file_report, own_table

    name = repr(options.file)
    path = source_file.expanded(options.file)
    try:
        if not path.is_file():
            raise AuditError("there is no such file; check the name and the current folder")
        reading = reading_options.chosen(options)
        if not options.table and reading != reading_options.ReadingOptions():
            raise AuditError("options that say how a table is read need --table")
        table = own_table.read(options.table, reading) if options.table else None
        report = file_report.examine(containers.read(path), table)
    except AuditError as error:
        named = str(error) if options.table and repr(options.table) in str(error) else f"{name}: {error}"
        print(f"memaudit: {printable(named)}", file=sys.stderr)
        return FAULT
    except (OSError, ValueError) as error:
        print(f"memaudit: {name}: cannot be read ({type(error).__name__})", file=sys.stderr)
        return FAULT
    rows = len(table[0].values) if table else 0
    lines = file_report.lines(report, name, repr(options.table) if options.table else None, rows)
    show([*lines, *own_table.described(table or [])])
    return INSIDE if report.inside else NONE_INSIDE
