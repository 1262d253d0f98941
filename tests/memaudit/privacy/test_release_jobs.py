"""What the jobs share that charge a table: the ledger that must have paid, refused repetitions, kept files."""

import pytest

from memaudit.common.errors import AuditError
from memaudit.common.io import write_json
from memaudit.privacy.accounting import Budget
from memaudit.privacy.composition import Cost
from memaudit.privacy.ledger import Ledger
from memaudit.privacy.ledger_lines import PrivateTable
from memaudit.privacy.release_jobs import copy_kept, ledger_of, refuse_existing


@pytest.mark.parametrize("kind", ["release", "release_bounds"])
def test_the_ledger_must_have_the_charges_of_all_that_stands_in_the_results(tmp_path, kind):
    budget = Budget(1.0, 1e-5)
    table = PrivateTable("customers", ["a", "b"])
    charge = Ledger(tmp_path / "ledger").charge(table, Cost(budget), budget, "a test", "one row")
    statement = tmp_path / f"results/mine/{kind}/customers/statement.json"
    write_json({"ledger": {"charge": charge.id}}, statement)
    assert ledger_of(str(tmp_path / "ledger"), tmp_path / "results").history(table) == [charge]
    with pytest.raises(AuditError, match="this is not the ledger that was charged"):
        ledger_of(str(tmp_path / "another"), tmp_path / "results")


def test_kept_files_are_copied_and_not_made_again(tmp_path):
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept/context.parquet").write_bytes(b"records")
    path = str(tmp_path / "results/context.parquet")
    refuse_existing([path])
    copy_kept(tmp_path / "kept", [path])
    assert (tmp_path / "results/context.parquet").read_bytes() == b"records"
    with pytest.raises(AuditError, match=r"context.parquet: exists, and another release spends again"):
        refuse_existing([path])
