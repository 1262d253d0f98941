"""The end of a command's processes when the command itself is told to end."""

import signal
import subprocess
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress

import psutil

PATIENCE = 5.0  # seconds until processes that were told to end are ended


class TerminatedError(KeyboardInterrupt):
    """This process was told to end by SIGTERM, which, other than Ctrl-C, its children do not get."""


@contextmanager
def ended_together(running: subprocess.Popen) -> Iterator[None]:
    """While this lasts a SIGTERM also ends `running` and all of its descendants, and raises TerminatedError.

    Without it they would go on alone, and hold the lock. Signals reach the main thread alone: others are left as is.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, _terminated)
    try:
        yield
    except TerminatedError:
        _terminate(running)
        raise
    finally:
        signal.signal(signal.SIGTERM, before)


def _terminated(*_) -> None:
    # Some send it twice: a second one must not interrupt the end of the others.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise TerminatedError


def _terminate(running: subprocess.Popen) -> None:
    with suppress(psutil.NoSuchProcess):
        parent = psutil.Process(running.pid)
        # The parent first: it must not start another one.
        ended = [parent, *parent.children(recursive=True)]
        _each(ended, "terminate")
        # Snakemake may wait forever for a job that was ended beside it.
        _, left = psutil.wait_procs(ended, timeout=PATIENCE)
        _each(left, "kill")


def _each(processes: Iterable[psutil.Process], end: str) -> None:
    for one in processes:
        with suppress(psutil.NoSuchProcess):
            getattr(one, end)()
