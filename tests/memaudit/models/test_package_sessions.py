"""Where a package runs: here or in its own environment; what is missing is named with the command that makes it."""

import gc
import sys
from dataclasses import replace

import numpy as np
import pytest
import torch

from memaudit.common import loaded_packages
from memaudit.common.deployed_packages import PACKAGES
from memaudit.common.errors import AuditError
from memaudit.common.loaded_packages import noted_elsewhere
from memaudit.models import package_sessions
from memaudit.models.package_adapters import Opening
from memaudit.models.package_sessions import PackageError, RemoteSession, interpreter, session

GIVEN = Opening("nowhere", "classification", None, PACKAGES["tabdpt"].options, [], "cpu", 1)


def test_a_missing_environment_is_named_with_its_remedy():
    package = replace(PACKAGES["tabdpt"], environment=".venv-nowhere")
    with pytest.raises(
        AuditError, match=r"tabdpt runs in an environment of its own, .*`make \.venv-nowhere` builds it"
    ):
        session(package, GIVEN)


def test_another_version_and_a_missing_package_are_named(tmp_path, monkeypatch):
    with pytest.raises(AuditError, match=r"structured-data-models is \S+ in \.venv, and requirements\.lock has 9"):
        session(replace(PACKAGES["sdm"], version="9"), GIVEN)
    with pytest.raises(AuditError, match=r"no-such-package is not installed in \.venv, .*`make \.venv` installs it"):
        session(replace(PACKAGES["sdm"], distribution="no-such-package"), GIVEN)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/python").symlink_to(sys.executable)
    monkeypatch.chdir(tmp_path.parent)
    package = replace(PACKAGES["tabdpt"], environment=tmp_path.name, distribution="no-such-package")
    with pytest.raises(AuditError, match="no-such-package is not installed"):
        session(package, GIVEN)


def test_an_interpreter_is_that_of_the_working_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".venv-deployed/bin").mkdir(parents=True)
    (tmp_path / ".venv-deployed/bin/python").touch()
    assert interpreter(PACKAGES["tabdpt"]) == tmp_path / ".venv-deployed/bin/python"


def test_an_error_of_the_other_process_is_its_text():
    with pytest.raises(PackageError, match="FileNotFoundError: nowhere does not exist"):
        RemoteSession(PACKAGES["tabdpt"], GIVEN, sys.executable)


FAKE = """
import pickle, sys
from memaudit.models.package_adapters import Reply
pickle.load(sys.stdin.buffer)
first = Reply([{"probabilities": 1}], packages={"tabdpt": {"version": "1.3.1", "file": "f"}})
for reply in (Reply(), first, Reply(error="8 GiB", memory=True)):
    pickle.dump(reply, sys.stdout.buffer)
    sys.stdout.buffer.flush()
    pickle.load(sys.stdin.buffer)
"""


@pytest.fixture
def fake(tmp_path):
    """A Python that answers one context, needs too much memory for the next, and ends."""
    (tmp_path / "fake.py").write_text(FAKE)
    python = tmp_path / "python"
    python.write_text(f"#!/bin/sh\nexec {sys.executable} {tmp_path / 'fake.py'}\n")
    python.chmod(0o755)
    return python


def test_answers_packages_too_little_memory_and_the_end_of_a_process(fake, monkeypatch):
    monkeypatch.setattr(loaded_packages, "_ELSEWHERE", {})
    opened = RemoteSession(PACKAGES["tabdpt"], GIVEN, fake)
    x, y = np.zeros((2, 1)), np.arange(2)
    assert opened.answers(x, y, [x]) == [{"probabilities": 1}]
    assert noted_elsewhere() == {".venv-deployed": {"tabdpt": {"version": "1.3.1", "file": "f"}}}
    with pytest.raises(torch.OutOfMemoryError, match="8 GiB"):
        opened.answers(x, y, [x])
    with pytest.raises(PackageError, match="its process ended with code 0"):
        opened.answers(x, y, [x])


def test_a_process_ends_with_its_session(fake, monkeypatch):
    opened = RemoteSession(PACKAGES["tabdpt"], GIVEN, fake)
    process = opened._process
    assert process.poll() is None
    del opened
    gc.collect()
    assert process.poll() is not None


def test_a_session_of_this_process_opens_the_adapter(monkeypatch):
    seen = []
    monkeypatch.setattr(package_sessions, "opened", lambda adapter, given: seen.append(adapter))
    monkeypatch.setattr(package_sessions, "answered", lambda adapter, x, y, queries: [len(queries)])
    package = replace(PACKAGES["sdm"], distribution="numpy", version=np.__version__)
    assert session(package, GIVEN).answers(None, None, [1, 2]) == [2]
    assert seen == ["StructuredDataModel"]
