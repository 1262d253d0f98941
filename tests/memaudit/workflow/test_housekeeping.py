"""Before the first job it is clear whether packages are there and results can be written."""

import os

import pytest

from memaudit.common.errors import AuditError
from memaudit.workflow import housekeeping


def test_this_environment_is_complete():
    housekeeping.check_packages()


def test_a_missing_package_is_named(tmp_path, monkeypatch):
    for family in housekeeping.SHARED:
        (tmp_path / f"{family}.yaml").write_text("  - pip:\n      - numpy==0.1\n      - no-such-package==1.0\n")
    monkeypatch.setattr(housekeeping, "ENVS", tmp_path)
    with pytest.raises(AuditError, match=r"lacks no-such-package; install there .* `rm -rf .venv && make .venv`"):
        housekeeping.check_packages()


@pytest.mark.parametrize("closed", ["", "run", "run/tables"])
def test_a_folder_that_cannot_be_written_is_named(closed, tmp_path, monkeypatch):
    (tmp_path / "run/tables").mkdir(parents=True)
    housekeeping.check_folder(tmp_path / "run")
    # Rights do not stop root: what the system answers is replaced.
    access = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: str(path) != str(tmp_path / closed) and access(path, mode))
    target = tmp_path / ("other/run" if not closed else "run")
    with pytest.raises(AuditError, match="this user cannot write there") as caught:
        housekeeping.check_folder(target)
    assert str(caught.value).startswith(f"{tmp_path / closed}: ")
