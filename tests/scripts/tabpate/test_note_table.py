"""A study of a private table is known to the ledger that a later release of the table is charged to."""

from pathlib import Path

import pytest
from tabpate_tables import call

from memaudit.common.errors import AuditError
from memaudit.common.io import read_json
from memaudit.data.table_sources import fetch
from memaudit.privacy.ledger import Ledger
from memaudit.privacy.ledger_lines import PrivateTable
from memaudit.privacy.private_table_reader import row_texts


@pytest.fixture
def raw(tmp_path):
    file = tmp_path / "table.csv"
    file.write_text("age,income\n" + "".join(f"{18 + row},{row / 7:.3f}\n" for row in range(80)))
    fetch({"source": "file", "path": str(file)}, tmp_path / "raw.parquet", tmp_path)
    return tmp_path / "raw.parquet"


def note(raw, ledger, run="mine"):
    call("tabpate_note_table", [str(raw)], [raw.parent / "noted.json"], run=run, ledger=str(ledger))
    return read_json(raw.parent / "noted.json")


def test_a_release_of_the_table_finds_the_study_and_nothing_is_charged(raw, tmp_path):
    noted = note(raw, tmp_path / "ledger")
    table = PrivateTable("another name", row_texts(raw)[:40])
    (look,) = Ledger(tmp_path / "ledger").looks(table)
    assert look.startswith("a study of private contexts (tabpate, run mine) (")
    assert noted["ledger"] == str(tmp_path / "ledger/ledger.jsonl")
    assert not Path(noted["ledger"]).read_text()


def test_a_study_that_runs_again_leaves_no_second_line(raw, tmp_path):
    for run in ("mine", "mine", "larger"):
        note(raw, tmp_path / "ledger", run)
    assert len(Ledger(tmp_path / "ledger").looks(PrivateTable("customers", row_texts(raw)))) == 2


def test_a_ledger_that_was_lost_stops_the_study(raw, tmp_path):
    note(raw, tmp_path / "ledger")
    (tmp_path / "ledger/ledger.jsonl").unlink()
    with pytest.raises(AuditError, match="if it was lost, take it from a backup"):
        note(raw, tmp_path / "ledger")
