"""Run a script's main, as a Snakemake job or by hand, and write down how its result came about."""

import argparse
import json
import logging
import signal
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TextIO

from memaudit.common.errors import AuditError
from memaudit.common.project_paths import SCRIPTS
from memaudit.common.screen_lines import write_line
from memaudit.workflow import sidecar
from memaudit.workflow.digest import rule_of
from memaudit.workflow.faults import explain


def run(main: Callable[[Any], dict[str, Any] | None], scope: Mapping[str, Any]) -> None:
    """Call main with Snakemake's job, its prints going to the rule's log; else with one made from the command line.

    main may return facts about the run (device, dtype, seed); they go into the sidecar, an output named `sidecar`.
    An AuditError, or a fault that faults.explain knows, ends the job with its one line and exit code 1.
    """
    job = scope.get("snakemake") or _from_command_line(sys.argv[1:], scope["__doc__"])
    # As a `module` of another workflow a rule's name has a prefix; the script keeps its own.
    job.script_rule = rule_of(scope["__file__"])
    watch = sidecar.Stopwatch()
    # A cluster that cancels a job says SIGTERM first: time enough to give up a lease.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with ExitStack() as stack:
        stack.push(lambda _, error, __: _report(error, job))
        if job.log:
            log = stack.enter_context(open(job.log[0], "w", buffering=1, encoding="utf-8"))
            stack.enter_context(redirect_stdout(log))
            stack.enter_context(redirect_stderr(log))
            stack.enter_context(logged_to(log))
        check_library(scope["__file__"])
        job.until_recorded = stack
        facts = main(job) or {}
        if path := job.output.get("sidecar"):
            sidecar.write(path, job.script_rule, job, facts, watch)


@contextmanager
def logged_to(log: TextIO) -> Iterator[None]:
    """Let packages that took the standard error for their messages when the script imported them write to the log."""
    loggers = (logging.root, *logging.root.manager.loggerDict.values())
    handlers = {handler for logger in loggers for handler in getattr(logger, "handlers", ())}
    moved = [handler for handler in handlers if getattr(handler, "stream", None) is sys.__stderr__]
    for handler in moved:
        handler.setStream(log)
    try:
        yield
    finally:
        for handler in moved:
            handler.setStream(sys.__stderr__)


def check_library(script: str) -> None:
    """Raise AuditError if the library is not the one beside the script: the sidecar would name other code."""
    beside = Path(script).resolve().parents[1]
    if (beside / "memaudit").is_dir() and beside != SCRIPTS:
        raise AuditError(
            f"{script}: the memaudit that is installed here is another checkout's, {SCRIPTS.parent}; "
            f"use the Python of this one's `make .venv`, or set PYTHONPATH={beside}"
        )


def _report(error: BaseException | None, job: Any) -> None:
    """End the job with one line where the error is a known one; its traceback goes to the log."""
    if error is None or isinstance(error, SystemExit):
        return
    if line := explain(error, job):
        tell(f"memaudit: {line}")
    if job.log:
        # The log may lie on the disk that is full.
        with suppress(OSError), open(job.log[0], "a", encoding="utf-8") as log:
            if not isinstance(error, AuditError | KeyboardInterrupt):
                traceback.print_exception(error, file=log)
            if line:
                print(f"memaudit: {line}", file=log)
    if line:
        sys.exit(1)


def tell(message: str) -> None:
    """Print a line for the user's terminal, not for the log."""
    write_line(message, sys.__stderr__)


class Paths(list):
    """Paths by position and, where given as name=path, by name: what Snakemake's namedlist offers to scripts.

    A name that is given to several paths has the list of them.
    """

    def __init__(self, arguments: list[str]):
        pairs = [argument.split("=", 1) if "=" in argument else (None, argument) for argument in arguments]
        super().__init__(path for _, path in pairs)
        names = dict.fromkeys(name for name, _ in pairs if name)
        of_name = {name: [path for other, path in pairs if other == name] for name in names}
        self._named = {name: found if len(found) > 1 else found[0] for name, found in of_name.items()}

    def get(self, name: str, default: str | None = None) -> str | list[str] | None:
        return self._named.get(name, default)

    def __getattr__(self, name: str) -> str | list[str]:
        if name not in self.__dict__.get("_named", {}):
            raise AttributeError(f"no path is named {name}: give {name}=PATH")
        return self._named[name]


def _from_command_line(argv: list[str], description: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--input", nargs="*", default=[], metavar="[NAME=]PATH")
    parser.add_argument("--output", nargs="*", default=[], metavar="[NAME=]PATH")
    parser.add_argument("--params", type=json.loads, default={}, metavar="JSON")
    parser.add_argument("--wildcards", type=json.loads, default={}, metavar="JSON")
    parser.add_argument("--threads", type=int, default=1)
    job = parser.parse_args(argv)
    job.input, job.output, job.log = Paths(job.input), Paths(job.output), []
    job.params, job.wildcards = SimpleNamespace(**job.params), SimpleNamespace(**job.wildcards)
    job.resources = {}
    job.rule = rule_of(sys.argv[0])
    return job
