"""The building blocks of a summary refuse unknown keys; missing numbers are null."""

import pytest
from pydantic import ValidationError

from memaudit.auditing.summaries.summary_parts import Value


def test_a_value_may_lack_its_interval_and_has_no_other_key():
    assert Value(estimate=0.5).model_dump() == {
        "estimate": 0.5,
        "low": None,
        "high": None,
        "null": None,
        "detected": None,
    }
    with pytest.raises(ValidationError):
        Value(estimate=0.5, middle=1)
