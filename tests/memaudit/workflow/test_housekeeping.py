"""Before the first job it is clear whether packages are there, results can be written and times are possible."""

import os
import shutil
import time

import pytest
from conftest import mounted

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


def changed(path, hours):
    """A file that was changed so many hours from now."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    os.utime(path, (then := time.time() + 3600 * hours, then))
    return path


def test_times_ahead_of_the_clock_are_set_back_and_keep_their_order(tmp_path):
    first, second, old = (changed(tmp_path / name, hours) for name, hours in [("a/x", 9), ("a/b/y", 3), ("z", -2)])
    before = old.stat().st_mtime
    assert housekeeping.set_times_back(tmp_path) == 2
    assert first.stat().st_mtime == second.stat().st_mtime
    assert before < first.stat().st_mtime <= time.time()
    assert old.stat().st_mtime == before
    assert housekeeping.set_times_back(tmp_path) == 0
    assert housekeeping.set_times_back(tmp_path / "not there") == 0


def test_a_file_that_is_hardly_ahead_does_not_become_newer_than_its_result(tmp_path):
    made_from, result = changed(tmp_path / "input", 0.9 / 3600), changed(tmp_path / "result", 9)
    assert housekeeping.set_times_back(tmp_path) == 2
    assert made_from.stat().st_mtime <= result.stat().st_mtime
    changed(made_from, 0.9 / 3600)
    assert housekeeping.set_times_back(tmp_path) == 0


def test_an_input_of_the_user_that_is_newer_than_now_is_named(tmp_path):
    ahead, inside = changed(tmp_path / "customers.csv", 2), changed(tmp_path / "results/run/x", 2)
    fine = [inside, changed(tmp_path / "old.csv", -2), tmp_path / "not there"]
    housekeeping.check_times(tmp_path / "results/run", fine)
    with pytest.raises(
        AuditError, match=rf"{ahead}: was changed 2.0 h from now, by the clock of .*run `touch {ahead}`"
    ):
        housekeeping.check_times(tmp_path / "results/run", [*fine, ahead])


def test_a_file_of_another_user_is_named(tmp_path, monkeypatch):
    ahead = changed(tmp_path / "theirs", 2)

    def refuse(*path, **options):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "utime", refuse)
    with pytest.raises(AuditError, match=rf"{ahead}: was changed 2.0 h from now, and this user cannot change that"):
        housekeeping.set_times_back(tmp_path)


def test_a_full_disk_is_named(tmp_path):
    with mounted(tmp_path, "-t", "tmpfs", "-o", "size=1m", "tmpfs"):
        housekeeping.set_times_back(tmp_path)
        with open(tmp_path / "filler", "wb") as filler:
            filler.write(bytes(shutil.disk_usage(tmp_path).free))
        with pytest.raises(AuditError, match=rf"^{tmp_path}: no space left on device; free some"):
            housekeeping.set_times_back(tmp_path)
