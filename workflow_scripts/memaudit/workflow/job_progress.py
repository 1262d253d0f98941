"""A line for every job that starts: what runs, how much is done, how long is left."""

import logging
import os
import re
import threading
import time
from collections.abc import Callable, Sequence
from copy import copy
from pathlib import Path

from memaudit.common.project_paths import CALLED_FROM
from memaudit.common.screen_lines import write_line
from memaudit.common.time_left import between, seconds_left

# What Snakemake adds to a job of this machine that has ended with a line of its own. A job that is killed says nothing:
# its line ("died with <Signals.SIGKILL: 9>") is another one.
ECHO = re.compile(
    r"RuleException:\nCalledProcessError in file .*returned non-zero exit status \d+\.$"
    r"|RuleException:\nCalledProcessError in file .*died with <Signals\.SIGINT: 2>\.$"  # Ctrl-C
    r"|Exiting because a job execution failed\. Look (above|below) for error messages$"
    r"|WorkflowError:\nAt least one job did not complete successfully\.$"
    r"|Shutting down, this might take some time\.$",
    re.DOTALL,
)
FAULT = re.compile(r"\AInputFunctionException .*?\n\s*AuditError: ([^\n]*)", re.DOTALL)
REASON = 5000  # characters of the longest reason that is shown whole: one with sections of the config has 200,000
SHOWN = 300  # characters that are left of a longer one
INTERRUPTED = threading.Event()  # set when Ctrl-C ends the run


class Progress(logging.Handler):
    """Follows the events of Snakemake's logger, records with an attribute `event`.

    left: gives the expected CPU seconds of every job that has not finished; workers: how many jobs are expected to go
    at once; tell: takes a line; timed: whether these seconds are known and the time left is shown; clock: seconds.
    """

    def __init__(
        self,
        left: Callable[[], Sequence[float]],
        workers: int,
        tell: Callable[[str], None],
        timed: bool = True,
        clock: Callable[[], float] = time.monotonic,
    ):
        super().__init__()
        self._left, self._workers, self._tell, self._timed, self._clock = left, workers, tell, timed, clock
        self._began, self._jobs, self._seconds = clock(), len(left()), sum(left())

    def emit(self, record: logging.LogRecord) -> None:
        event = getattr(record, "event", None)
        if event == "job_info":
            left, name = self._left(), " ".join([record.rule_name, *map(str, record.wildcards.values())])
            done = f"{self._jobs - len(left)} of {self._jobs} jobs done"
            time_left = f", {self._time(sum(left))} left" if self._timed else ""
            self._tell(f"memaudit: {done}{time_left}; {name} starts")
        # Jobs that Ctrl-C has ended are failed ones to Snakemake.
        elif event == "job_error" and not INTERRUPTED.is_set():
            self._tell(f"memaudit: {record.rule_name} has failed; see {' '.join(map(_from_caller, record.log))}")

    def _time(self, left: float) -> str:
        elapsed = self._clock() - self._began
        return between(seconds_left(self._seconds - left, left, elapsed, self._workers))


def _from_caller(log: str) -> str:
    """The path of a log from the folder of the call where it lies inside it, else the absolute one."""
    path = Path(log).absolute()
    folder = Path(os.environ.get(CALLED_FROM, ".")).absolute()
    return str(path.relative_to(folder) if path.is_relative_to(folder) else path)


class WithoutEcho(logging.Filter):
    """Keeps from the screen what Snakemake adds to the line of a job that has failed; its log file has all of it.

    local: whether jobs run on this machine, and print their own lines: of others Snakemake shows the log.
    """

    def __init__(self, local: bool) -> None:
        super().__init__()
        self._local = local

    def filter(self, record: logging.LogRecord) -> bool:
        own = self._local and getattr(record, "event", None) == "job_error"
        return not own and not ECHO.match(str(record.msg))


class OneLine(logging.Filter):
    """Keeps what Snakemake says of an input function that raised an AuditError from the screen, and prints its line."""

    def filter(self, record: logging.LogRecord) -> bool:
        if found := FAULT.search(str(record.msg)):
            write_line(f"memaudit: {found[1]}")
        return not found


def on_screen(logger: logging.Logger) -> list[logging.Handler]:
    """The handlers of Snakemake's logger but that of its log file, which keeps all."""
    return [handler for handler in logger.handlers if not isinstance(handler, logging.FileHandler)]


class ShortReason(logging.Formatter):
    """Formats as another formatter does, with the end cut off of a reason that has whole sections of the config."""

    def __init__(self, formatter: logging.Formatter) -> None:
        super().__init__()
        self._formatter = formatter

    def format(self, record: logging.LogRecord) -> str:
        reason = str(getattr(record, "reason", None) or "")
        if len(reason) > REASON:
            record = copy(record)  # the log file's handler has the same one
            record.reason = f"{reason[:SHOWN]} ... ({len(reason):,} characters; Snakemake's log has all)"
        return self._formatter.format(record)


class Brief(logging.Filter):
    """Lets pass what went wrong and this module's lines alone."""

    def filter(self, record: logging.LogRecord) -> bool:
        return record.levelno > logging.INFO or str(record.msg).startswith("memaudit: ")


def keep_screen_short(logger: logging.Logger) -> None:
    """Keep from the screen what would stand above the line of a faulty config, and the rest of long reasons."""
    # With a --configfile, one line for each file of the project.
    logger.addFilter(lambda record: "is extended by additional config" not in str(record.msg))
    for handler in on_screen(logger):
        handler.addFilter(OneLine())
        if handler.formatter:  # a logger plugin may have none
            handler.setFormatter(ShortReason(handler.formatter))
