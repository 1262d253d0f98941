"""The table that the bench of the audit times, and what it says where the audit fails."""

import pytest
from conftest import load_script

from memaudit.common.errors import AuditError


@pytest.fixture
def bench():
    return load_script("bench_audit_table")


def test_the_table_has_different_rows_and_both_classes(bench):
    table = bench.customers(500)
    assert len(table.drop_duplicates()) == 500
    assert table["churn"].value_counts(normalize=True).between(0.2, 0.8).all()


def test_an_audit_that_fails_is_no_measurement(bench, tmp_path):
    bench.customers(1).to_csv(tmp_path / "customers.csv", index=False)
    with pytest.raises(AuditError, match="the audit has failed"):
        bench._timed(tmp_path / "customers.csv", 1)
    assert not list(tmp_path.glob("*.json"))
