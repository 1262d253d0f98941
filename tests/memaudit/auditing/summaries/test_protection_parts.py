"""The format of the data-protection section refuses unknown keys and statuses."""

import pytest
from pydantic import ValidationError

from memaudit.auditing.summaries.protection_parts import AttackStatus


def test_a_status_is_one_of_four():
    assert AttackStatus(attack="a", status="run", reason="").status == "run"
    with pytest.raises(ValidationError):
        AttackStatus(attack="a", status="perhaps", reason="")
