"""What several tests need: the project's folder, and its default config as a fresh copy."""

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from memaudit.workflow.digest import script_of
from memaudit.workflow.run_config import read_yaml

PROJECT = Path(__file__).resolve().parents[1]
# Configs of runs that are published, beside the default run: those that `make publish` knows.
EVIDENCE = re.findall(
    r"--configfile config/(\w+)\.yaml", (PROJECT / "config/published_runs.yaml").read_text(encoding="utf-8")
)
# Workers share the cores; threads of each would wait for one another. Read when torch is imported.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# No test writes into the ledger of who runs it.
os.environ["XDG_STATE_HOME"] = tempfile.mkdtemp(prefix="memaudit-state-")
# A make that a test starts is a user's, not one below `make test`, which says the folders that it enters.
for name in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS"):
    os.environ.pop(name, None)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep the tests of a file on one worker, and those of a folder with shared fixtures: each worker makes its own."""
    for item in items:
        if not item.get_closest_marker("xdist_group"):
            folder = item.path.parent
            shared = (folder / "conftest.py").exists() and folder.name != "workflow"
            place = folder if shared else item.path
            item.add_marker(pytest.mark.xdist_group(str(place.relative_to(PROJECT))))


def with_library(project: Path = PROJECT, given: Mapping[str, str] = os.environ) -> dict[str, str]:
    """An environment in which commands import the library of this project, whichever is installed."""
    paths = [str(project / "workflow_scripts"), *filter(None, [given.get("PYTHONPATH")])]
    return dict(given) | {"PYTHONPATH": os.pathsep.join(paths)}


@pytest.fixture(scope="session", autouse=True)
def warm_interpreter_ends() -> Iterator[None]:
    """What some test has started does not outlive the session."""
    yield
    import warm_scripts

    warm_scripts.end()


@pytest.fixture(scope="session")
def project() -> Path:
    return PROJECT


@pytest.fixture
def config() -> dict[str, Any]:
    """The embedded default config, as Snakemake merges it."""
    return load("config")


def load(*names: str) -> dict[str, Any]:
    """Config files laid over the default one: dicts merged, all else replaced."""
    merged: dict[str, Any] = {}
    for name in ("datasets", "models", "language_models", "config", *names):
        merge(merged, read_yaml(PROJECT / "config" / f"{name}.yaml"))
    return merged


@pytest.fixture
def one_thread() -> Iterator[None]:
    """Sums of several threads have no fixed order."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@contextmanager
def mounted(folder: Path, *arguments: str) -> Iterator[None]:
    """A mount over the folder; the test is skipped where this user may not mount."""
    done = subprocess.run(["mount", *arguments, str(folder)], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"this user may not mount: {done.stderr.strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def merge(into: dict[str, Any], over: Mapping[str, Any]) -> None:
    for key, value in over.items():
        if isinstance(value, Mapping) and isinstance(into.get(key), dict):
            merge(into[key], value)
        else:
            into[key] = deepcopy(value)


def load_script(rule: str) -> ModuleType:
    """A rule's script as a module, one object however often it is loaded, so that its names can be patched."""
    if rule not in sys.modules:
        spec = spec_from_file_location(rule, script_of(rule))
        sys.modules[rule] = module_from_spec(spec)
        spec.loader.exec_module(sys.modules[rule])
    return sys.modules[rule]
