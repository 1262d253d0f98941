"""A process that has imported what jobs import, and forks one for each script: starting a job costs no imports.

Many a job computes for a second and imports torch and its kin for up to nine. Modules of the library are imported
anew by every script, from the PYTHONPATH of its caller; packages in sidecars are all that were imported here.
"""

import atexit
import json
import os
import runpy
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path

from memaudit.common.errors import AuditError
from memaudit.common.screen_lines import write_line
from memaudit.workflow.sidecar import FORKED

CLIENT = Path(__file__).with_name("warm_client.py")
# Options, and the scripts that may reach the hub, whose client reads when it is imported whether it may, are Python's.
EXECUTABLE = """#!/bin/sh
case "$1" in -*|*fetch_checkpoint.py|*fetch_corpus.py|*fetch_model.py) exec "{python}" "$@";; esac
exec "{python}" -I -S "{client}" "{socket}" "$@"
"""
# Python imports it when it starts: Snakemake, and nothing else, takes another executable for its jobs.
SITE = """import os.path, sys
if "snakemake" in map(os.path.basename, sys.orig_argv[1:3]):
    sys.executable = {executable!r}
"""
LONGEST = 100  # bytes of a socket's path
# As Snakemake sets them for a job of one thread; torch has as many as a job sets.
THREADS = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "GOTO_NUM_THREADS", "NUMEXPR_NUM_THREADS"), "1"
)
# What most packages are imported for.
MODULES = (
    "openml",
    "memaudit.models.deployed_estimators",
    "memaudit.models.dp_sgd",
    "memaudit.models.language_training",
    "memaudit.models.lora",
    "memaudit.models.tabicl",
    "memaudit.models.tabpfn",
    "memaudit.models.text_table_models",
    "memaudit.data.table_sources",
    "memaudit.plotting.lira_figures",
    "memaudit.statistics.bootstrap",
)


def write_executable(folder: Path) -> Path:
    """Write a file to call instead of Python, and return it; `serve` must listen in the same folder.

    Raises AuditError for a folder in which it cannot be called.
    """
    path, listening = folder / "python", folder / "socket"
    text = EXECUTABLE.format(python=sys.executable, client=CLIENT, socket=listening)
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)
    if not os.access(path, os.X_OK) or " " in str(folder) or len(os.fsencode(listening)) > LONGEST:
        raise AuditError(
            f"{str(folder)!r}: jobs cannot be forked here; let TMPDIR name a folder in which programs may run, with a "
            "short path without blanks"
        )
    (folder / "sitecustomize.py").write_text(SITE.format(executable=str(path)), encoding="utf-8")
    return path


@contextmanager
def warm(folder: Path, environment: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """Start a warm interpreter with this environment and end it; yields the one in which it runs Snakemake's jobs."""
    listening = folder / "socket"
    listening.unlink(missing_ok=True)
    write_executable(folder)
    command = [sys.executable, "-P", "-m", "memaudit.workflow.warm_interpreter", str(folder), str(os.getpid())]
    # Signals to the caller's group, such as Ctrl-C, reach a job by its client alone: once.
    process = subprocess.Popen(command, env={**environment, **THREADS}, process_group=0)
    try:
        while not listening.exists():
            if process.poll() is not None:
                raise AuditError("the interpreter that jobs are forked from has ended; see the message above")
            time.sleep(0.1)
        paths = [str(folder), *filter(None, [environment.get("PYTHONPATH")])]
        yield dict(environment) | {"PYTHONPATH": os.pathsep.join(paths)}
    finally:
        process.kill()
        process.wait()


def serve(folder: Path, caller: int, modules: Sequence[str] = MODULES) -> None:
    """Import the modules, then fork a process for each script that the executable of this folder is called with.

    It returns when its parent is no longer the caller, a process's id.
    """
    given = dict(os.environ)
    for name in modules:
        import_module(name)
    of_packages = {name: value for name, value in os.environ.items() if given.get(name) != value}
    for name in [name for name in sys.modules if name.partition(".")[0] == "memaudit"]:
        del sys.modules[name]
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # ended children leave no zombies
    path = folder / "socket"
    path.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(str(path))
        listener.listen()
        listener.settimeout(1.0)
        while os.getppid() == caller:
            with suppress(TimeoutError):
                connection, _ = listener.accept()
                try:
                    if os.fork() == 0:
                        listener.close()
                        _answer_and_end(connection, of_packages)
                except OSError as error:  # no memory, or too many processes: this job fails, later ones need not
                    write_line(f"memaudit: a job cannot be forked: {error}")
                connection.close()


def _answer_and_end(connection: socket.socket, of_packages: Mapping[str, str]) -> None:
    """Answer a client, and end this process whatever happens."""
    try:
        _answer(connection, of_packages)
    except BaseException:
        write_line(traceback.format_exc().rstrip())
    finally:
        os._exit(1)


def _answer(connection: socket.socket, of_packages: Mapping[str, str]) -> None:
    """Have the requested script run by a process of its own, and say how it ended."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    head, streams, _, _ = socket.recv_fds(connection, 8, 3)
    request = b""
    while len(request) < int.from_bytes(head, "big"):
        if not (part := connection.recv(1 << 16)):
            return  # the client has ended
        request += part
    wanted = json.loads(request)
    for own, given in enumerate(streams):
        os.dup2(given, own)
        os.close(given)
    os.chdir(wanted["folder"])
    os.umask(wanted["umask"])
    os.environ.clear()
    os.environ.update({**of_packages, **wanted["environment"], FORKED: "1"})
    if process := os.fork():
        with suppress(BrokenPipeError):  # the client has ended
            connection.sendall(process.to_bytes(8, "big"))
            has_ended = threading.Event()
            threading.Thread(target=_end_with, args=(connection, process, has_ended), daemon=True).start()
            ended = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
            has_ended.set()
            connection.sendall(ended.to_bytes(2, "big", signed=True))
        os._exit(0)
    connection.close()
    _forget_shared_state()
    code = run_script(wanted["command"])
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # what is left is to end
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _end_with(client: socket.socket, process: int, has_ended: threading.Event) -> None:
    """Kill the script if its client is killed: nothing more is to come from a client that waits."""
    with suppress(OSError):
        client.recv(1)
    if not has_ended.is_set():
        os.kill(process, signal.SIGKILL)


def _forget_shared_state() -> None:
    """Give this process what each Python draws or reads for itself: a seed of numpy, and the folder of TMPDIR."""
    tempfile.tempdir = None
    if numpy := sys.modules.get("numpy"):
        numpy.random.seed()


def run_script(command: Sequence[str]) -> int:
    """Run a script with its arguments as Python would; return its exit code."""
    sys.argv = list(command)
    library = filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))
    sys.path[:0] = [str(Path(command[0]).resolve().parent), *library]
    try:
        runpy.run_path(command[0], run_name="__main__")
    except SystemExit as end:
        if isinstance(end.code, str):
            write_line(end.code)
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        write_line(traceback.format_exc().rstrip())
        return 1
    return 0


if __name__ == "__main__":
    serve(Path(sys.argv[1]), int(sys.argv[2]))
