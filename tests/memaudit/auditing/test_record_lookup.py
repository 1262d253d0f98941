"""A record's risk is that of risk.parquet, and every record that was not rated has its reason."""

import pytest
from audit_folders import finished

from memaudit.auditing import record_lookup
from memaudit.auditing.running import finished_audit
from memaudit.common.errors import AuditError


def test_a_rated_record_is_shown(tmp_path):
    audit = finished_audit.read(finished(tmp_path / "a"))
    lines = "\n".join(record_lookup.described(audit, record_lookup.risk_of(audit, 17)))
    assert "row 17: rank 1 of 3 rated records" in lines
    assert "vulnerability score 3.00 [2.00, 4.00]: its presence shows" in lines
    assert "if 10 of 100 candidates are in the data" in lines
    assert "0.800" in lines
    assert "not shown" in record_lookup.described(audit, record_lookup.risk_of(audit, 4))[1]
    assert "(no interval)" in record_lookup.described(audit, record_lookup.risk_of(audit, 9))[1]


@pytest.mark.parametrize(
    ("row", "why"), [(5, "equals row 4"), (6, "held out"), (7, "not among"), (8, "no target, or was not sampled")]
)
def test_a_record_that_was_not_rated_has_its_reason(tmp_path, row, why):
    audit = finished_audit.read(finished(tmp_path / "a"))
    assert record_lookup.risk_of(audit, row) is None
    assert why in record_lookup.unrated(audit, row)


def test_without_the_copies_the_reason_is_not_known(tmp_path):
    audit = finished_audit.read(finished(tmp_path / "a", copies=False))
    assert "not known which" in record_lookup.unrated(audit, 6)


@pytest.mark.parametrize("row", [0, -1, 501])
def test_a_row_that_the_table_does_not_have_is_refused(tmp_path, row):
    audit = finished_audit.read(finished(tmp_path / "a"))
    with pytest.raises(AuditError, match="rows 1 to 500"):
        record_lookup.risk_of(audit, row)
