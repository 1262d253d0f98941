"""The subcommands of `memaudit`, each of which is added and run by its own module, imported when it is called."""

import os
import sys
from collections.abc import Sequence
from importlib import import_module

from memaudit.auditing import audit_options
from memaudit.commands import run_workflow
from memaudit.common.command_name import program, remember
from memaudit.common.line_parser import LineParser

CUT_OFF = 141  # exit code of a process that SIGPIPE ends
# Module of a subcommand, and its line in the help of all.
PARTS = {
    "audit": ("memaudit.auditing.command_line", "audit a table"),
    "scan": ("memaudit.commands.scan_file", "look for rows of a table in a model's file, without loading it"),
    "diff": ("memaudit.commands.diff_audits", "compare the folders of two audits"),
    "record": ("memaudit.commands.show_record", "show one record's risk in an audit"),
    "init": ("memaudit.commands.init_config", "write a config file for the studies on a table"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line, by default that of this process, and return the exit code, as the subcommand defines it."""
    remember()
    try:
        try:
            return _run(list(sys.argv[1:] if arguments is None else arguments))
        finally:
            sys.stdout.flush()
    except KeyboardInterrupt:
        print("memaudit: stopped", file=sys.stderr)
        return 130
    except BrokenPipeError:  # whoever reads the output has ended, such as `head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # nothing is left to be flushed at the end
        return CUT_OFF


def _run(arguments: list[str]) -> int:
    called = arguments[0] if arguments else None
    if called in run_workflow.TARGETS:
        return run_workflow.main(arguments)
    if called == "audit":
        audit_options.parse(arguments)  # before what the environment alone has is imported
        return import_module(PARTS[called][0]).main(arguments)
    parser = LineParser(prog=program(), description="Measure what a model leaks about the records in its context.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, (module, about) in PARTS.items():
        if name == called:
            import_module(module).add(commands)
        else:
            commands.add_parser(name, help=about)
    for name, target in run_workflow.TARGETS.items():
        commands.add_parser(name, help=target.about)
    options = parser.parse_args(arguments)
    return options.run(options)
