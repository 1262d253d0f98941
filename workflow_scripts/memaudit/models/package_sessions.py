"""A package's model, opened once: in this process, or in one of the environment that has the package."""

import os
import pickle
import subprocess
import weakref
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Protocol

import torch

from memaudit.common.deployed_packages import Package
from memaudit.common.errors import AuditError
from memaudit.common.loaded_packages import note_elsewhere
from memaudit.common.project_paths import PROJECT, SCRIPTS, python_of
from memaudit.models import package_worker
from memaudit.models.package_adapters import Answer, Opening, answered, opened

VERSION = "from importlib.metadata import version; import sys; print(version(sys.argv[1]))"


class Session(Protocol):
    """An opened model of a package."""

    def answers(self, x: Any, y: Any, queries: list[Any]) -> list[Answer]:
        """Answers to each list of queries (m, d) about a context (n, d), (n,). Raises what the package raises."""
        ...


class PackageError(RuntimeError):
    """What a package has raised in another process: its type and text."""


def session(package: Package, given: Opening) -> Session:
    """Open a model where its package is. Raises AuditError where that is missing or has another version."""
    if package.environment is None:
        _check(package, _version_here(package), "requirements.lock", ".venv")
        return LocalSession(package, given)
    python = interpreter(package)
    lock = f"requirements-{package.environment.removeprefix('.venv-')}.lock"
    if not python.exists():
        raise AuditError(
            f"{package.distribution} runs in an environment of its own, and {python} does not exist; "
            f"`make {package.environment}` builds it, or where there is no checkout install {PROJECT}/{lock} into a "
            f"virtual environment {package.environment} in this folder"
        )
    asked = subprocess.run([python, "-c", VERSION, package.distribution], capture_output=True, text=True, check=False)
    _check(package, asked.stdout.strip() or None, lock, package.environment)
    return RemoteSession(package, given, python)


def interpreter(package: Package) -> Path:
    """Python of the package's own environment, as `python_of`."""
    return python_of(package.environment)


class LocalSession:
    """A model in this process."""

    def __init__(self, package: Package, given: Opening):
        self._adapter = opened(package.adapter, given)

    def answers(self, x: Any, y: Any, queries: list[Any]) -> list[Answer]:
        """See Session."""
        return answered(self._adapter, x, y, queries)


class RemoteSession:
    """A model in a process of another environment, which ends with this object."""

    def __init__(self, package: Package, given: Opening, python: Path):
        """Start the process. Raises PackageError for weights that the package does not read."""
        self._package = package
        # The library is installed in .venv alone.
        env = os.environ | {"PYTHONPATH": str(SCRIPTS), "PYTHONWARNINGS": "ignore"}
        command = [python, "-m", package_worker.__name__]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env)
        self._end = weakref.finalize(self, _ended, self._process)
        self._ask((package.adapter, given))

    def answers(self, x: Any, y: Any, queries: list[Any]) -> list[Answer]:
        """See Session."""
        return self._ask((x, y, queries))

    def _ask(self, request: Any) -> Any:
        try:
            pickle.dump(request, self._process.stdin)
            self._process.stdin.flush()
            reply = pickle.load(self._process.stdout)
        except (EOFError, BrokenPipeError) as error:
            code = self._process.wait()
            raise PackageError(f"its process ended with code {code}; give it more memory") from error
        note_elsewhere(self._package.environment, reply.packages)
        if reply.memory:
            raise torch.OutOfMemoryError(reply.error)
        if reply.error:
            raise PackageError(reply.error)
        return reply.answers


def _ended(process: subprocess.Popen) -> None:
    """End a process, which keeps nothing."""
    process.terminate()
    process.wait()
    process.stdin.close()
    process.stdout.close()


def _version_here(package: Package) -> str | None:
    try:
        return version(package.distribution)
    except PackageNotFoundError:
        return None


def _check(package: Package, found: str | None, lock: str, environment: str) -> None:
    """Raise AuditError for another version than the package's row says: with it numbers may differ."""
    if found != package.version:
        state = f"is {found}" if found else "is not installed"
        raise AuditError(
            f"{package.distribution} {state} in {environment}, and {lock} has {package.version}; `make {environment}` "
            "installs it"
        )
