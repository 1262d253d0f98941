"""Notes of a release are one section of the changelog; what a release lacks is one line."""

import shutil
import subprocess
import sys
import tomllib

import pytest
import yaml
from conftest import PROJECT, load_script

cut_release_notes = load_script("maintenance_cut_release_notes")
CHANGELOG = """# Changelog

## 0.2.0 (unreleased)
- To come.

## 0.1.0 (2026-12-01)
- First.
  Two lines.

## 0.0.9 (2026-01-01)

## 0.0.1 (2025-01-01)
- Older.
"""


@pytest.fixture
def folder(tmp_path):
    """A project of version 0.1.0, by default."""

    def write(version="0.1.0", cited=None):
        (tmp_path / "pyproject.toml").write_text(f'[project]\nversion = "{version}"\n')
        (tmp_path / "CITATION.cff").write_text(f"cff-version: 1.2.0\nversion: {cited or version}\n")
        (tmp_path / "CHANGELOG.md").write_text(CHANGELOG)
        return tmp_path

    return write


def test_the_section_of_the_version_is_cut_out(folder):
    assert cut_release_notes.release_notes("v0.1.0", folder()) == "- First.\n  Two lines.\n"


def test_the_last_section_ends_with_the_file(folder):
    assert cut_release_notes.release_notes("v0.0.1", folder("0.0.1")) == "- Older.\n"


@pytest.mark.parametrize(
    ("tag", "versions", "message"),
    [
        ("v0.2.0", ("0.1.0",), "tag v0.2.0: pyproject.toml has version 0.1.0; tag v0.1.0, or change the version"),
        ("0.1.0", ("0.1.0",), "tag 0.1.0: pyproject.toml has version 0.1.0; tag v0.1.0"),
        ("v0.1.0", ("0.1.0", "0.0.9"), "CITATION.cff: its version is 0.0.9, pyproject.toml has 0.1.0"),
        ("v0.2.0", ("0.2.0",), r"CHANGELOG.md: 0.2.0 is \(unreleased\); write the date of the release"),
        ("v0.0.9", ("0.0.9",), "CHANGELOG.md: the section on 0.0.9 is empty"),
        ("v0.3.0", ("0.3.0",), r"CHANGELOG.md: has no heading `## 0.3.0 \(YYYY-MM-DD\)`"),
    ],
)
def test_what_a_release_lacks_is_named(folder, tag, versions, message):
    with pytest.raises(ValueError, match=message):
        cut_release_notes.release_notes(tag, folder(*versions))


def test_the_next_release_lacks_at_most_its_date(tmp_path):
    for name in ("pyproject.toml", "CITATION.cff"):
        shutil.copy(PROJECT / name, tmp_path)
    changelog = (PROJECT / "CHANGELOG.md").read_text(encoding="utf-8")
    (tmp_path / "CHANGELOG.md").write_text(changelog.replace("(unreleased)", "(2026-12-01)"), encoding="utf-8")
    version = tomllib.loads((tmp_path / "pyproject.toml").read_text())["project"]["version"]
    assert cut_release_notes.release_notes(f"v{version}", tmp_path).startswith("- ")


def test_a_tag_of_another_version_ends_the_command_with_one_line():
    command = [sys.executable, "-I", str(PROJECT / "workflow_scripts/maintenance/cut_release_notes.py"), "v99.0.0"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("memaudit: tag v99.0.0: pyproject.toml has version ")
    assert done.stderr.count("\n") == 1


def test_the_workflow_of_a_release_runs_it_before_and_after_the_tests():
    jobs = yaml.safe_load((PROJECT / ".github/workflows/release.yml").read_text())["jobs"]
    assert (jobs["ci"]["needs"], jobs["release"]["needs"]) == ("tag", "ci")
    assert (PROJECT / jobs["ci"]["uses"]).exists()
    for job in ("tag", "release"):
        (command,) = (step["run"] for step in jobs[job]["steps"] if "cut_release_notes" in step.get("run", ""))
        assert (PROJECT / command.split()[1]).samefile(cut_release_notes.__file__)
