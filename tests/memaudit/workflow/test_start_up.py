"""What a job's start costs is measured in a process of its own."""

import pytest

from memaudit.common.errors import AuditError
from memaudit.workflow import start_up


def test_the_imports_of_a_script_take_time_and_it_does_not_run():
    seconds = start_up.start_up_seconds("data_make_key")
    assert 0.05 < seconds < 60
    assert start_up.start_up_seconds("data_make_key") == seconds, "measured once"


def test_a_script_that_cannot_be_imported_is_named(tmp_path, monkeypatch):
    broken = tmp_path / "broken.py"
    broken.write_text("import no_such_package\n")
    monkeypatch.setattr(start_up, "script_of", lambda rule: broken)
    with pytest.raises(AuditError, match=r"^lira_broken: its script cannot be imported: ModuleNotFoundError"):
        start_up.start_up_seconds("lira_broken")
