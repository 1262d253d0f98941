"""`make` says in one line what a machine lacks."""

import shutil
import subprocess
import sys

import pytest


@pytest.fixture
def folder(project, tmp_path):
    shutil.copy(project / "Makefile", tmp_path)
    (tmp_path / "requirements.lock").write_text("no-such-package-memaudit==1.0\n")
    return tmp_path


def make(folder, *arguments):
    environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", "PIP_NO_INDEX": "1", "HOME": str(folder)}
    return subprocess.run(
        ["make", *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def test_an_old_python_is_named(folder):
    old = folder / "old-python"
    old.write_text('#!/bin/sh\n[ "$1" = --version ] && echo Python 3.8.1 && exit 0\nexit 1\n')
    old.chmod(0o755)
    done = make(folder, "demo", "PYTHON=./old-python")
    assert done.returncode != 0
    assert "memaudit needs Python 3.11 or newer, and ./old-python is Python 3.8.1" in done.stderr
    assert not (folder / ".venv").exists()


def test_a_package_that_cannot_be_had_is_named_and_nothing_half_made_stays(folder):
    done = make(folder, ".venv", f"PYTHON={sys.executable}")
    assert done.returncode != 0
    assert "no-such-package-memaudit" in done.stderr
    assert "a package of requirements.lock cannot be had" in done.stderr
    assert not (folder / ".venv").exists()


def test_help_names_every_target(folder):
    printed = make(folder, "help").stdout
    for target in ("demo", "test", "bench", "pretrain", "envs", "docs", "lock", "clean", ".venv"):
        assert target in printed


def test_clean_removes_nothing(folder):
    (folder / "results" / "demo").mkdir(parents=True)
    assert "rm -rf" in make(folder, "clean").stdout
    assert (folder / "results" / "demo").exists()
