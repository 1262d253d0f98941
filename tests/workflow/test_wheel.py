"""The wheel carries the workflow: installed read-only, `memaudit` runs it in a user's folder."""

import os
import re
import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path

import pandas as pd
import pytest
from conftest import PROJECT
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from memaudit.common.io import read_json
from workflow.conftest import Checkout

PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
OFFLINE = ["--no-deps", "--no-index"]


class Installation:
    """A virtual environment with the wheel, and an empty folder of a user."""

    def __init__(self, folder: Path):
        self.user = folder / "user"
        self.user.mkdir()
        self.prefix = folder / "env"
        self.environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        self.environment["PATH"] = f"{self.prefix / 'bin'}{os.pathsep}{os.environ['PATH']}"

    def memaudit(self, *arguments: str, code: int = 0) -> str:
        """Call the console command in the user's folder; returns what it printed."""
        command = [self.prefix / "bin/memaudit", *arguments]
        done = subprocess.run(command, cwd=self.user, env=self.environment, capture_output=True, text=True, check=False)
        printed = done.stdout + done.stderr
        assert done.returncode == code, printed
        return printed

    def make_read_only(self) -> None:
        for path in [*self.prefix.rglob("*")]:
            if not path.is_symlink():
                path.chmod(path.stat().st_mode & ~0o222)

    def files(self) -> dict[str, tuple[int, int]]:
        """Size and time of every installed file."""
        found = {str(path): path.stat() for path in self.prefix.rglob("*") if path.is_file()}
        return {path: (one.st_size, one.st_mtime_ns) for path, one in found.items()}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel as built from a copy of the project, without the network."""
    folder = tmp_path_factory.mktemp("wheel")
    source = Checkout(folder / "memaudit").folder
    # What stands in a checkout after an editable installation and a build is no part of it.
    for made in ("workflow_scripts/memaudit.egg-info/PKG-INFO", "build/lib/memaudit_workflow/old.py"):
        (source / made).parent.mkdir(parents=True, exist_ok=True)
        (source / made).touch()
    subprocess.run(
        [*PIP, "wheel", *OFFLINE, "--no-build-isolation", "--wheel-dir", str(folder), str(source)], check=True
    )
    (found,) = folder.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """The installation, read-only, which sees the packages of this environment, and a table of the user's."""
    made = Installation(tmp_path_factory.mktemp("installed"))
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", made.prefix], check=True)
    python = str(made.prefix / "bin/python")
    subprocess.run([*PIP, "--python", python, "install", *OFFLINE, str(wheel)], check=True)
    (site,) = made.prefix.glob("lib/*/site-packages")
    # A path file is read here and not in the folder that it names: the editable memaudit there is not seen.
    (site / "packages.pth").write_text(sysconfig.get_path("purelib") + "\n")
    made.make_read_only()
    frame = pd.DataFrame({"x": [str(i % 7) for i in range(200)], "n": range(200), "y": ["a", "b"] * 100})
    frame.to_csv(made.user / "some.csv", index=False)
    return made


def test_the_wheel_has_what_git_has_of_the_workflow_and_nothing_that_was_made(wheel):
    listed = subprocess.run([sys.executable, "-m", "zipfile", "-l", wheel], capture_output=True, text=True, check=True)
    names = set(re.findall(r"^(\S+) ", listed.stdout, re.MULTILINE))
    for path in [PROJECT / "Snakefile", *(PROJECT / "rules").rglob("*.smk"), *(PROJECT / "config").rglob("*.yaml")]:
        assert f"memaudit_workflow/{path.relative_to(PROJECT)}" in names
    assert "memaudit.pth" in names
    assert not [name for name in names if "egg-info" in name or name.endswith(("/old.py", ".pyc"))]
    assert not [name for name in names if name.startswith("memaudit_workflow/tests")]


@pytest.mark.long
def test_a_user_runs_the_workflow_in_a_folder_of_his_own(installed):
    before = installed.files()
    assert "usage: memaudit run [ARGUMENT ...]" in installed.memaudit("run", "--help")
    help_ = installed.memaudit("--help")
    assert {"audit", "init", "plan", "run", "provenance", "release", "predict-own"} <= set(help_.split())
    assert "then: memaudit plan" in installed.memaudit("init", "some.csv", "--target", "y")
    assert "./memaudit" not in (installed.user / "mine.yaml").read_text()
    assert "what a run from scratch costs" in installed.memaudit("plan", "--configfile", "mine.yaml")
    # config/smoke.yaml is the project's, mine.yaml and its table are the user's.
    stacked = ["--configfile", "config/smoke.yaml", "mine.yaml"]
    assert "lira_query_shadows" in installed.memaudit("run", "-n", *stacked)
    target = "results/some/data/some/schema.json"
    installed.memaudit("run", target, "--cores", "1", *stacked)
    schema = read_json(installed.user / target)
    assert [column["name"] for column in schema["columns"]] == ["x"]  # column n numbers the rows
    assert {path.name for path in installed.user.iterdir()} == {".snakemake", "mine.yaml", "results", "some.csv"}
    assert installed.files() == before


@pytest.mark.wheel
def test_it_runs_with_packages_from_the_index_alone(wheel, tmp_path):
    """As a user installs it, in the locked versions: an environment that has nothing else, read-only afterwards."""
    made = Installation(tmp_path)
    subprocess.run([sys.executable, "-m", "venv", made.prefix], check=True)
    lock = ["--constraint", str(PROJECT / "requirements.lock")]
    pip = [made.prefix / "bin/python", *PIP[1:], "install", *lock, str(wheel)]
    subprocess.run(pip, env=made.environment, check=True)
    made.make_read_only()
    before = made.files()
    rows = range(200)
    frame = pd.DataFrame({"x": [i % 17 for i in rows], "z": [i % 7 / 2 for i in rows], "y": ["a", "b"] * 100})
    frame.to_csv(made.user / "some.csv", index=False)
    assert "usage: memaudit" in made.memaudit("--help")
    assert "what a run from scratch costs" in made.memaudit("plan", "--configfile", "config/smoke.yaml")
    assert "lira_query_shadows" in made.memaudit("run", "-n", "--configfile", "config/smoke.yaml")
    audit = made.memaudit("audit", "some.csv", "--target", "y", "--quick", "--cores", "2", "--into", "audited")
    assert "memaudit: first numbers: AUC " in audit
    assert (made.user / "audited/report.html").exists()
    assert made.files() == before


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["init", "none.csv", "--target", "y", "--into", "z.yaml"], 1, "memaudit: 'none.csv': there is no such file"),
        (["init", "some.csv", "--target", "z", "--into", "z.yaml"], 1, "memaudit: --target: the table has no column"),
        (["plan", "other.yaml"], 2, "memaudit: other.yaml: name config files behind --configfile"),
        (["rum"], 2, "invalid choice: 'rum'"),
    ],
)
def test_bad_input_is_one_line(installed, arguments, code, message):
    printed = installed.memaudit(*arguments, code=code)
    assert message in printed
    assert printed.count("\n") == 1


# Extras whose packages are no part of the lock, since no result depends on them.
ENGINES = ("cluster-generic", "kubernetes")


def declared(*without):
    """Requirements of the wheel, those of extras among them but for the named ones, by canonical name."""
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = {name: listed for name, listed in project["optional-dependencies"].items() if name not in without}
    extras = [one for listed in named.values() for one in listed]
    return {canonicalize_name(Requirement(one).name): one for one in [*project["dependencies"], *extras]}


def test_plug_ins_of_other_engines_are_pinned_by_their_extras():
    of_engines = declared().keys() - declared(*ENGINES).keys()
    assert len(of_engines) == 3
    assert all("==" in declared()[name] for name in of_engines)


def test_the_wheel_requires_what_requirements_name_within_the_locked_major_versions():
    lines = (PROJECT / "requirements.in").read_text(encoding="utf-8").partition("# checks")[0].splitlines()
    wanted = [line for line in lines if line and not line.startswith("#")]
    locked = dict(line.split("==") for line in (PROJECT / "requirements.lock").read_text(encoding="utf-8").split())
    locked = {canonicalize_name(name): version for name, version in locked.items()}

    def bounded(line):
        version = locked[canonicalize_name(line)]
        return f"{line}>={version},<{int(version.split('.')[0]) + 1}"

    expected = [line if "==" in line else bounded(line) for line in wanted]
    assert declared(*ENGINES) == {canonicalize_name(Requirement(one).name): one for one in expected}
