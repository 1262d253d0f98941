"""The end of a command's processes when the command itself is told to end."""

import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import psutil


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
    raise TerminatedError


def _terminate(running: subprocess.Popen) -> None:
    with suppress(psutil.NoSuchProcess):
        descendants = psutil.Process(running.pid).children(recursive=True)
        # The parent first: it must not start another one.
        running.terminate()
        for one in descendants:
            with suppress(psutil.NoSuchProcess):
                one.terminate()
