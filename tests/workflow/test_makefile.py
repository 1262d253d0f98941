"""`make` says in one line what a machine lacks."""

import json
import os
import re
import shutil
import subprocess
import sys

import pytest
import yaml
from conftest import EVIDENCE

ENVIRONMENTS = {".venv": "requirements.lock", ".venv-synth": "requirements-synth.lock"}


@pytest.fixture
def folder(project, tmp_path):
    shutil.copy(project / "Makefile", tmp_path)
    for lock in ENVIRONMENTS.values():
        (tmp_path / lock).write_text("no-such-package-memaudit==1.0\n")
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


@pytest.mark.parametrize(("name", "lock"), ENVIRONMENTS.items())
def test_a_package_that_cannot_be_installed_is_named_and_nothing_half_made_stays(folder, name, lock):
    done = make(folder, name, f"PYTHON={sys.executable}")
    assert done.returncode != 0
    assert "no-such-package-memaudit" in done.stderr
    assert f"a package of {lock} cannot be installed" in done.stderr
    assert not (folder / name).exists()


@pytest.mark.parametrize(("name", "lock"), ENVIRONMENTS.items())
def test_an_environment_is_made_again_when_its_own_lock_is_edited(folder, name, lock):
    for environment in ENVIRONMENTS:
        (folder / environment).mkdir()
        (folder / environment / "complete").touch()
    assert "making" not in make(folder, "--dry-run", *ENVIRONMENTS).stdout
    later = (folder / name / "complete").stat().st_mtime + 1
    os.utime(folder / lock, (later, later))
    assert re.findall(r"making (\S+) from (\S+)", make(folder, "--dry-run", *ENVIRONMENTS).stdout) == [(name, lock)]


@pytest.mark.parametrize("target", ["demo", "test"])
def test_demo_and_test_need_both_environments(folder, target):
    planned = make(folder, "--dry-run", target).stdout
    assert all(f"making {name} from {lock}" in planned for name, lock in ENVIRONMENTS.items())


def test_lock_keeps_present_pins_unless_an_upgrade_is_asked_for(folder):
    kept, moved = (make(folder, "--dry-run", "lock", *arguments).stdout for arguments in ([], ["UPGRADE=1"]))
    assert "--constraint $name.lock" in kept
    assert "--constraint" not in moved


def test_help_names_every_target(folder):
    printed = make(folder, "help").stdout
    for target in (
        "demo",
        "test",
        "costs",
        "bench",
        "gpu",
        "pretrain",
        "envs",
        "envs-check",
        "docs",
        "publish",
        "rehearse",
        "recommended",
        "verify",
        "lock",
        "clean",
        ".venv",
        ".venv-synth",
        ".venv-deployed",
        ".venv-engines",
    ):
        assert target in printed


def test_clean_removes_nothing(folder):
    (folder / "results" / "demo").mkdir(parents=True)
    (folder / ".venv-synth").mkdir(exist_ok=True)
    found, remove = make(folder, "clean").stdout.split("Remove them with: rm -rf")
    assert ".venv-synth" in found
    assert ".venv-synth" in remove
    assert (folder / "results" / "demo").exists()


def test_what_is_published_of_a_run_exists(project):
    """A table without a view would end `make publish` after the hours of its run."""
    runs = yaml.safe_load((project / "config/published_runs.yaml").read_text())
    views = [yaml.safe_load(path.read_text()) for path in (project / "config/views").glob("*.yaml")]
    tables = {name for view in views for name in view.get("tables", ())}
    claims = {claim["id"] for claim in yaml.safe_load((project / "config/claims.yaml").read_text())}
    assert sum(len(one["tables"]) for one in runs.values()) > 20
    assert all(one.keys() <= {"command", "tables", "sized_for"} for one in runs.values())
    assert {name for one in runs.values() for name in one["tables"]} <= tables
    assert {claim for one in runs.values() for claim in one.get("sized_for", [])} <= claims
    assert len(EVIDENCE) == len(runs) - 1, "all but the default run have a config, which tests try"
    evidence = [path.stem for path in (project / "config").glob("*.yaml") if path.read_text().startswith("# Evidence ")]
    assert set(evidence) <= set(EVIDENCE)


@pytest.mark.parametrize("command", ["make plan", "memaudit run"])
def test_a_config_with_a_fault_is_one_line(project, tmp_path, command):
    """Besides what make says of its recipe."""
    (tmp_path / "mine.yaml").write_text("lira: {modells: 3}\n")
    done = planned(project, command, tmp_path / "mine.yaml")
    assert done.returncode != 0
    told = [line for line in done.stderr.splitlines() if not line.startswith("make: ")]
    file = f"{tmp_path / 'mine.yaml'}, line 1"
    assert told == [f"memaudit: config: lira/modells: unknown key; did you mean `models`? ({file})"]


def test_a_plan_prints_nothing_of_snakemakes(project):
    done = planned(project, "make plan", "config/smoke.yaml")
    assert done.returncode == 0, done.stderr
    # Snakemake prints what a job prints to standard error.
    assert (done.stdout + done.stderr).lstrip().startswith("results/smoke: what a run from scratch costs\n")


def planned(project, command, config):
    by = {
        "make plan": ["make", "--assume-old", ".venv", "plan", f"CONFIG={config}"],
        "memaudit run": [sys.executable, "-m", "memaudit", "run", "--configfile", str(config)],
    }
    return subprocess.run(by[command], cwd=project, capture_output=True, text=True, check=False)


def test_parameters_of_every_recipe_are_json(project):
    targets = re.search(r"^\.PHONY: (.*)", (project / "Makefile").read_text(), re.MULTILINE)[1].split()
    built = [f"--assume-old={folder}/complete" for folder in (".venv", ".venv-synth", ".venv-deployed", ".venv-site")]
    recipes = make(project, "--dry-run", *built, "WARM=1", "STUDY=lira predict", *targets).stdout
    found = re.findall(r"--params\s+'([^']*)'", recipes)
    assert len(found) > 15
    assert all(isinstance(json.loads(params), dict) for params in found)


def test_the_page_on_installing_states_the_sizes_that_make_prints(project):
    printed = re.findall(r"^SIZE_(\S+) := (\S+ GB)", (project / "Makefile").read_text(), re.MULTILINE)
    page = (project / "docs/install.md").read_text(encoding="utf-8")
    assert len(printed) == 4
    assert re.findall(r"^\| `(\.venv\S*)`.*? \| (\S+ GB) \|", page, re.MULTILINE) == printed
