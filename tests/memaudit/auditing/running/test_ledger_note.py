"""An audit with private contexts is known to the ledger by the rows of the user's file."""

from memaudit.auditing.reading.request import Request
from memaudit.auditing.running.ledger_note import note_audit
from memaudit.common.project_paths import PROJECT
from memaudit.data.table_sources import fetch
from memaudit.privacy.ledger import Ledger, default_folder
from memaudit.privacy.ledger_lines import PrivateTable
from memaudit.privacy.private_table_reader import row_texts


def test_the_table_of_an_audit_is_that_of_a_release(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    file = tmp_path / "table.csv"
    file.write_text("age;income\n" + "".join(f"{18 + row};{row / 7:.3f}\n" for row in range(80)))
    (tmp_path / "audit/table").mkdir(parents=True)
    note_audit(Request(str(file), "income"), tmp_path / "audit")
    assert not list((tmp_path / "audit/table").iterdir())
    fetch({"source": "file", "path": str(file), "delimiter": ";"}, tmp_path / "raw.parquet", tmp_path)
    (look,) = Ledger(default_folder(PROJECT)).looks(PrivateTable("customers", row_texts(tmp_path / "raw.parquet")))
    assert look.startswith("an audit")
