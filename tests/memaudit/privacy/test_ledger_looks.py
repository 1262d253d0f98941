"""Runs that measured private contexts are found by the rows of their table, and cost nothing."""

import pytest

from memaudit.common.errors import AuditError
from memaudit.privacy.ledger import Ledger, user_folder
from memaudit.privacy.ledger_lines import PrivateTable

ROWS = [f"row {number}" for number in range(100)]


def test_a_look_is_found_by_a_tenth_of_the_rows_and_charges_nothing(tmp_path):
    ledger, table = Ledger(tmp_path / "ledger"), PrivateTable("customers", ROWS)
    for _ in range(2):
        ledger.note(table, "an audit")
    other = PrivateTable("clients", [*ROWS[:10], *(f"new {number}" for number in range(90))])
    for known in (table, other):
        (look,) = ledger.looks(known)
        assert look.startswith("an audit (20")
        assert ledger.history(known) == []
    assert ledger.looks(PrivateTable("customers", ["another", "table"])) == []


def test_a_damaged_line_and_a_lost_key_are_refused(tmp_path):
    ledger, table = Ledger(tmp_path / "ledger"), PrivateTable("customers", ROWS)
    ledger.note(table, "an audit")
    (ledger.folder / "key").rename(tmp_path / "key")
    with pytest.raises(AuditError, match="key: missing"):
        ledger.looks(table)
    (tmp_path / "key").rename(ledger.folder / "key")
    with open(ledger.folder / "looks.jsonl", "ab") as file:
        file.write(b'{"id": ')
    with pytest.raises(AuditError, match="line 2: cut off or damaged"):
        ledger.looks(table)


def test_a_look_in_the_ledger_of_the_user_is_found_by_a_ledger_elsewhere(tmp_path, monkeypatch):
    """Whoever audits has no config that names the other one, whose key differs."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    table, elsewhere = PrivateTable("customers", ROWS), Ledger(tmp_path / "elsewhere")
    assert elsewhere.looks(table) == []
    assert not user_folder().exists()
    Ledger(user_folder()).note(table, "an audit")
    elsewhere.note(table, "a study")
    assert [look.split(" (20")[0] for look in elsewhere.looks(table)] == ["a study", "an audit"]
    assert len(Ledger(user_folder()).looks(table)) == 1
