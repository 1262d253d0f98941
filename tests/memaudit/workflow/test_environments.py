"""The locks, the environments' files and the image say the same, and hold what the rules import."""

import re
from importlib.metadata import packages_distributions

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from memaudit.workflow import environments
from memaudit.workflow.digest import rule_of, script_of

LOCKS = {"requirements": ".venv", "requirements-synth": ".venv-synth", "requirements-deployed": ".venv-deployed"}


def unpinned(family, pins):
    """A line for each package that a script of the family imports and that is not among the pins."""
    # A package of another environment is not installed here: it goes by the name that it is imported by.
    known = packages_distributions()
    lines = set()
    for rule in environments.scripts(family):
        script = script_of(rule).relative_to(environments.SCRIPTS)
        for top in {name.split(".")[0] for name in environments.modules(rule)} - {"memaudit", script.parent.name}:
            if not {canonicalize_name(name) for name in known.get(top, [top])} & pins.keys():
                lines.add(f"envs/{family}.yaml lacks {top}, which {script} reaches; add it to FAMILIES")
    return sorted(lines)


@pytest.mark.parametrize("family", environments.FAMILIES)
def test_an_environments_file_is_what_the_lock_says(project, family):
    text = (project / "envs" / f"{family}.yaml").read_text(encoding="utf-8")
    assert text == environments.render(family), "run `make envs`"


@pytest.mark.parametrize("family", environments.FAMILIES)
def test_every_pin_is_exact_and_stands_in_the_lock(project, family):
    dependencies = yaml.safe_load((project / "envs" / f"{family}.yaml").read_text(encoding="utf-8"))["dependencies"]
    pins = environments.lock_file(family).read_text(encoding="utf-8").split()
    assert set(dependencies[-1]["pip"]) <= set(pins)
    assert all(re.fullmatch(r"[\w.-]+==[\w.]+", pin) for pin in pins)


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_holds_what_its_requirements_name(project, name):
    pins = environments.read_lock(project / f"{name}.lock")
    for line in (project / f"{name}.in").read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            wanted = Requirement(line)
            version = pins[canonicalize_name(wanted.name)].split("==")[1]
            assert wanted.specifier.contains(version), "run `make lock`"


def test_each_environment_that_rules_name_exists(project):
    for path in (project / "rules").rglob("*.smk"):
        for line in path.read_text(encoding="utf-8").splitlines():
            if "../envs/" in line:
                assert (project / "envs" / line.strip(' "').rpartition("../envs/")[2]).exists()


def test_every_script_that_a_rule_runs_belongs_to_one_environment(project):
    text = "".join(path.read_text(encoding="utf-8") for path in (project / "rules").rglob("*.smk"))
    run = [rule_of(path) for path in re.findall(r'"(?:\.\./)+workflow_scripts/(\w+/\w+\.py)"', text)]
    assert sorted(run) == sorted(name for family in environments.FAMILIES for name in environments.scripts(family))


@pytest.mark.parametrize("family", environments.FAMILIES)
def test_every_package_that_a_familys_rules_import_is_pinned(family):
    assert unpinned(family, environments.read_pins(family)) == []


@pytest.mark.parametrize(
    ("family", "package", "module", "script"),
    [
        ("tabular", "torch", "torch", "lira/query_shadows.py"),
        ("statistics", "pyyaml", "yaml", "views/tabulate_results.py"),
        # Imported inside a function: no import of the script fails without it.
        ("data", "openml", "openml", "data/fetch_table.py"),
    ],
)
def test_a_missing_pin_is_named_with_its_module_script_and_environment(family, package, module, script):
    pins = environments.read_pins(family)
    del pins[package]
    lines = unpinned(family, pins)
    assert any(all(word in line for word in (module, script, f"envs/{family}.yaml")) for line in lines)


def test_a_package_that_many_scripts_lack_is_one_line_that_names_them_all():
    wanted = {"x_b": {"xarray", "memaudit.common.io"}, "x_a": {"memaudit.common.io", "yaml"}, "x_c": {"yaml"}}
    why = "No module named 'xarray'"
    assert environments.described("data", {"xarray": why, "memaudit.common.io": why}, wanted) == [
        "envs/data.yaml: No module named 'xarray'; reached by: x/a.py, x/b.py"
    ]


def test_a_pin_that_cannot_be_installed_is_named_and_its_folder_removed(monkeypatch, tmp_path):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setattr(environments, "read_pins", lambda family: {"x": "no-such-package-memaudit==1.0"})
    problems = environments.check("data")
    assert any("no-such-package-memaudit" in line and line.startswith("envs/data.yaml: ") for line in problems)
    assert not list(tmp_path.iterdir())


def test_the_image_has_the_environments_python_installs_every_lock_and_does_not_run_as_root(project):
    text = (project / "Containerfile").read_text(encoding="utf-8")
    base = re.search(r"^FROM \S+/python:(\S+?)-slim\S*@sha256:[0-9a-f]{64}$", text, re.MULTILINE)
    assert base[1] == environments.PYTHON
    copied = re.search(r"^COPY Makefile (.*) \./$", text, re.MULTILINE)[1].split()
    assert set(copied) == {path.name for path in project.glob("requirements*.lock")}
    assert re.findall(r"^RUN make (.*)$", text, re.MULTILINE) == [".venv/complete .venv-synth", ".venv"]
    assert re.search(r"^USER (\d+)", text, re.MULTILINE)[1] != "0"
    assert "pip install" not in text


def test_the_image_leaves_out_what_a_checkout_must_not_bring_along(project):
    ignored = (project / ".dockerignore").read_text(encoding="utf-8").split()
    assert {".git", ".venv*", ".snakemake", "results/*"} <= set(ignored)
    assert ignored.index("!results/bench") > ignored.index("results/*"), "unit costs come along: the last line decides"
