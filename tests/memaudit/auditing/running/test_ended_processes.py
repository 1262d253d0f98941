"""A command that is told to end takes its processes with it, whatever they have started."""

import signal
import subprocess
import sys
import threading

import psutil
import pytest

from memaudit.auditing.running.ended_processes import TerminatedError, ended_together

SLEEPS = "import time; time.sleep(60)"
PARENT = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {SLEEPS!r}])"
COMMAND = f"""
import subprocess, sys
from memaudit.auditing.running.ended_processes import ended_together

with subprocess.Popen([sys.executable, "-c", {PARENT!r}]) as running, ended_together(running):
    print(running.pid, flush=True)
    running.wait()
"""


def descendants(process):
    """Both processes below a command, as soon as they have started."""
    while len(found := psutil.Process(process.pid).children(recursive=True)) < 2:
        assert process.poll() is None
    return found


@pytest.mark.parametrize("deaf", [False, True])
def test_a_terminated_command_leaves_no_process_behind(deaf):
    deafened = "import signal, time; signal.signal(15, signal.SIG_IGN);"
    command = COMMAND.replace("import time;", deafened) if deaf else COMMAND
    with subprocess.Popen([sys.executable, "-c", command], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as command:
        assert command.stdout.readline()
        started = descendants(command)
        command.send_signal(signal.SIGTERM)
        command.send_signal(signal.SIGTERM)
        _, errors = command.communicate(timeout=30)
    assert b"TerminatedError" in errors
    assert psutil.wait_procs(started, timeout=30)[1] == []


def test_signals_are_as_before_afterwards_and_other_threads_leave_them():
    before = signal.getsignal(signal.SIGTERM)
    with subprocess.Popen([sys.executable, "-c", "pass"]) as running:
        with ended_together(running):
            assert signal.getsignal(signal.SIGTERM) != before
        assert signal.getsignal(signal.SIGTERM) == before
        seen = []

        def elsewhere():
            with ended_together(running):
                seen.append(signal.getsignal(signal.SIGTERM))

        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()
    assert seen == [before]


def test_a_command_that_has_ended_already_is_no_fault():
    with subprocess.Popen([sys.executable, "-c", "pass"]) as running:
        running.wait()
        with pytest.raises(TerminatedError), ended_together(running):
            signal.raise_signal(signal.SIGTERM)
