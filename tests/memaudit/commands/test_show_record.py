"""`./memaudit record`: exit codes, and the audit that is meant without a folder."""

import pytest
from audit_folders import finished

from memaudit.commands import launcher


@pytest.mark.parametrize(("row", "code"), [("17", 0), ("5", 1), ("501", 2), ("0", 2)])
def test_the_exit_code_says_whether_it_was_rated(tmp_path, capsys, row, code):
    assert launcher.main(["record", row, "--in", str(finished(tmp_path / "a"))]) == code
    printed = capsys.readouterr()
    assert f"row {row}" in printed.out + printed.err


def test_the_only_audit_here_is_meant(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert launcher.main(["record", "17"]) == 2
    finished(tmp_path / "audit-a")
    assert launcher.main(["record", "17"]) == 0
    finished(tmp_path / "audit-b")
    assert launcher.main(["record", "17"]) == 2
    assert "name the folder with --in" in capsys.readouterr().err


def test_what_is_no_row_is_one_line(capsys):
    with pytest.raises(SystemExit) as stop:
        launcher.main(["record", "first"])
    assert stop.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1
