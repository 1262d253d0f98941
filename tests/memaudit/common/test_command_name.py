"""Users are told to call the command as they have called it, also by pages that jobs write."""

import os
import shutil
import subprocess
import sys

import pytest
from conftest import PROJECT

from memaudit.common import command_name

CONSOLE = "/work/.venv/bin/memaudit"
LAUNCHED, SCRIPT = "/work/memaudit/__main__.py", "/work/.snakemake/scripts/tmp.write_page.py"


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch):
    monkeypatch.delenv(command_name.CALLED, raising=False)


@pytest.mark.parametrize(
    ("called", "name"),
    [
        (CONSOLE, CONSOLE),
        ("/my work/bin/memaudit", "'/my work/bin/memaudit'"),
        (LAUNCHED, "./memaudit"),
        ("pytest", "./memaudit"),
        (SCRIPT, "./memaudit"),
    ],
)
def test_a_command_is_named_as_it_was_called(monkeypatch, called, name):
    monkeypatch.setattr(sys, "argv", [called])
    assert command_name.program() == name


@pytest.mark.parametrize("called", [LAUNCHED, "pytest", SCRIPT])
def test_an_installed_package_has_no_launcher(monkeypatch, tmp_path, called):
    monkeypatch.setattr(sys, "argv", [called])
    monkeypatch.setattr(command_name, "PROJECT", tmp_path)
    assert command_name.program() == "memaudit"


def test_a_job_names_the_command_of_the_run(monkeypatch):
    """The console command of a checkout's environment, called in any folder, where there is no ./memaudit."""
    monkeypatch.setattr(sys, "argv", [CONSOLE])
    monkeypatch.setenv(command_name.CALLED, "")  # undone at the end
    command_name.remember()
    code = "from memaudit.common.command_name import program; print(program())"
    done = subprocess.run([sys.executable, "-c", code], cwd="/", capture_output=True, text=True, check=True)
    assert done.stdout == f"{CONSOLE}\n"


def test_a_command_on_the_path_is_named_without_its_folder(monkeypatch, tmp_path):
    command = tmp_path / "memaudit"
    command.touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    for called, name in ((str(command), "memaudit"), (CONSOLE, CONSOLE)):
        monkeypatch.setattr(sys, "argv", [called])
        assert command_name.program() == name


@pytest.mark.parametrize(
    ("called", "name"),
    [("../memaudit", "../memaudit"), ("memaudit", "memaudit"), ("'it s/memaudit'", "'it s/memaudit'")],
)
def test_the_launcher_is_named_as_it_was_called(tmp_path, called, name):
    """It says so to the Python that it becomes, here one that prints the name."""
    (project := tmp_path / "it s").mkdir()
    shutil.copy(PROJECT / "memaudit", project)
    shutil.copy(PROJECT / "memaudit", tmp_path)
    for folder in (project, tmp_path):
        (folder / ".venv/bin").mkdir(parents=True)
        (folder / "requirements.lock").touch()
        (folder / ".venv/complete").touch()
        (folder / ".venv/installed").touch()
        code = "from memaudit.common.command_name import program; print(program())"
        (folder / ".venv/bin/python").write_text(f"#!/bin/sh\nexec {sys.executable} -c '{code}'\n")
        (folder / ".venv/bin/python").chmod(0o755)
    cwd = tmp_path if "it s" in called else project
    environment = os.environ | {"PATH": f"{tmp_path if called == 'memaudit' else ''}:{os.environ['PATH']}"}
    environment["PYTHONPATH"] = str(PROJECT / "workflow_scripts")
    done = subprocess.run(
        ["bash", "-c", f"{called} plan"], cwd=cwd, env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout == f"{name}\n"


def test_snakemake_names_the_command_of_the_run(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["/work/.venv/lib/python3.11/site-packages/snakemake/__main__.py"])
    monkeypatch.setenv(command_name.CALLED, "memaudit")
    assert command_name.program() == "memaudit"


def test_the_workflow_is_run_by_snakemake_or_the_command_that_was_called(monkeypatch):
    assert command_name.workflow_command() == "snakemake"
    monkeypatch.setenv(command_name.CALLED, "memaudit")
    assert command_name.workflow_command() == "memaudit run"


def test_what_is_kept_is_nothing_else(monkeypatch):
    monkeypatch.setattr(sys, "argv", [SCRIPT])
    monkeypatch.setenv(command_name.CALLED, "<b>")
    assert command_name.program() == "./memaudit"


def test_only_one_place_names_the_command():
    """Texts for users take the name from `program`; docstrings are read in a checkout."""
    library = PROJECT / "workflow_scripts/memaudit"
    told = {
        path.name
        for path in [*library.rglob("*.py"), *library.rglob("templates/*")]
        for line in path.read_text(encoding="utf-8").splitlines()
        if "./memaudit" in line and '"""' not in line
    }
    assert told == {"command_name.py"}
