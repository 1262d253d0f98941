"""A process that has imported what jobs import, and forks one for each script: starting a job costs no imports.

Many a job computes for a second and imports torch and its kin for up to nine. Modules of the library are imported
anew by every script, from the PYTHONPATH of its caller; packages in sidecars are all that were imported here. Numeric
libraries have one thread, but for torch, whose number a job sets.
"""

import json
import os
import re
import runpy
import signal
import socket
import subprocess
import sys
import time
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path

from memaudit import OFFLINE
from memaudit.common.errors import AuditError
from memaudit.workflow.sidecar import FORKED

CLIENT = Path(__file__).with_name("warm_client.py")
# Python imports it when it starts: Snakemake, and nothing else, takes another executable for its jobs.
SITE = """import os.path, sys
if "snakemake" in map(os.path.basename, sys.orig_argv[1:3]):
    sys.executable = {executable!r}
"""
# The hub's client first: it reads when it is imported whether it may reach a server.
FIRST = ("huggingface_hub", "datasets", "transformers", "openml")
FETCHES = re.compile(r"(^|[/.])fetch_\w+\.py$")  # scripts that may reach the hub; Snakemake's copies have a prefix
# What most packages are imported for.
LIBRARY = (
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
    """Write a file to call instead of Python, and return it; `serve` must listen in the same folder."""
    path = folder / "python"
    path.write_text(
        f'#!/bin/sh\nexec "{sys.executable}" -I -S "{CLIENT}" "{folder / "socket"}" "$@"\n', encoding="utf-8"
    )
    path.chmod(0o755)
    (folder / "sitecustomize.py").write_text(SITE.format(executable=str(path)), encoding="utf-8")
    return path


@contextmanager
def warm(folder: Path, environment: Mapping[str, str], *, online: bool) -> Iterator[dict[str, str]]:
    """Start a warm interpreter with this environment and end it; yields the one in which it runs Snakemake's jobs.

    online: whether scripts may reach the hub; its client reads that when it is imported.
    """
    listening = folder / "socket"
    listening.unlink(missing_ok=True)
    write_executable(folder)
    own = {"OMP_NUM_THREADS": "1"} | dict(environment)
    command = [sys.executable, "-P", "-m", "memaudit.workflow.warm_interpreter", str(folder), *["online"] * online]
    process = subprocess.Popen(command, env=own)
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


def serve(folder: Path, modules: Sequence[str] = (*FIRST, *LIBRARY), *, online: bool = False) -> None:
    """Import the modules, then fork a process for each script that the executable of this folder is called with.

    It returns when the process that started it has ended. online: see `warm`.
    """
    if online:
        for variable in OFFLINE:
            os.environ.pop(variable, None)
    for name in modules:
        with suppress(ModuleNotFoundError):
            import_module(name)
    for name in [name for name in sys.modules if name.partition(".")[0] == "memaudit"]:
        del sys.modules[name]
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # ended children leave no zombies
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who presses Ctrl-C means the jobs: Snakemake decides on the rest
    path = folder / "socket"
    path.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(str(path))
        listener.listen()
        listener.settimeout(1.0)
        parent = os.getppid()
        while os.getppid() == parent:
            with suppress(TimeoutError):
                connection, _ = listener.accept()
                if os.fork() == 0:
                    listener.close()
                    _answer(connection, online)
                connection.close()


def _answer(connection: socket.socket, online: bool) -> None:
    """Have the requested script run by a process of its own, say how it ended, and end.

    A script that may have to reach the hub runs in a Python of its own, unless its client was imported to do so.
    """
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    head, streams, _, _ = socket.recv_fds(connection, 8, 3)
    request = b""
    while len(request) < int.from_bytes(head, "big"):
        request += connection.recv(1 << 16)
    wanted = json.loads(request)
    for own, given in enumerate(streams):
        os.dup2(given, own)
        os.close(given)
    os.chdir(wanted["folder"])
    os.umask(wanted["umask"])
    os.environ.clear()
    os.environ.update(wanted["environment"])
    if process := os.fork():
        connection.sendall(process.to_bytes(8, "big"))
        ended = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        connection.sendall(ended.to_bytes(2, "big", signed=True))
        os._exit(0)
    connection.close()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if FETCHES.search(wanted["command"][0]) and not online:
        os.execv(sys.executable, [sys.executable, *wanted["command"]])
    os.environ[FORKED] = "1"
    code = run_script(wanted["command"])
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def run_script(command: Sequence[str]) -> int:
    """Run a script with its arguments as Python would; return its exit code."""
    sys.argv = list(command)
    library = filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))
    sys.path[:0] = [str(Path(command[0]).resolve().parent), *library]
    try:
        runpy.run_path(command[0], run_name="__main__")
    except SystemExit as end:
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


if __name__ == "__main__":
    serve(Path(sys.argv[1]), online="online" in sys.argv[2:])
