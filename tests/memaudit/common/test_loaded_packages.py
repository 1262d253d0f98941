"""The packages of a process, and those noted of another environment."""

import sys
from types import ModuleType

import numpy as np
import pytest

from memaudit.common import loaded_packages as module
from memaudit.common.loaded_packages import loaded_packages, note_elsewhere, noted_elsewhere


@pytest.fixture
def loaded(monkeypatch):
    """A function that puts a module of this name and version into the process."""

    def add(name, version=None, file="/env/site-packages/x.py"):
        one = ModuleType(name)
        one.__file__ = file
        if version:
            one.__version__ = version
        monkeypatch.setitem(sys.modules, name, one)

    return add


def test_packages_are_named_by_version_and_file():
    assert loaded_packages()["numpy"] == {"version": np.__version__, "file": np.__file__}


def test_parts_and_modules_outside_site_packages_are_left_out(loaded):
    loaded("whole", "1")
    loaded("whole.part", "1")
    loaded("beside", "1", "/home/beside.py")
    loaded("unversioned")
    assert {"whole", "whole.part", "beside", "unversioned"} & loaded_packages().keys() == {"whole"}


def test_packages_of_a_namespace_are_listed_each(loaded):
    loaded("space", file=None)
    loaded("space.one", "3")
    loaded("space.one.part", "3")
    assert [name for name in loaded_packages() if name.startswith("space")] == ["space.one"]


def test_a_package_that_states_no_version_has_that_of_its_distribution(loaded, monkeypatch):
    loaded("silent")
    monkeypatch.setattr(module, "version", {"silent": "1.3.1"}.__getitem__)
    assert module._version("silent", sys.modules["silent"]) == "1.3.1"


def test_packages_elsewhere_are_kept_by_environment(monkeypatch):
    monkeypatch.setattr(module, "_ELSEWHERE", {})
    assert noted_elsewhere() == {}
    for name in ("numpy", "torch"):
        note_elsewhere(".venv-x", {name: {"version": "1", "file": "f"}})
    assert noted_elsewhere() == {".venv-x": {name: {"version": "1", "file": "f"} for name in ("numpy", "torch")}}
