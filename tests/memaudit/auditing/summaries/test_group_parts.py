"""Groups of a summary, whose names may be hidden."""

import pytest
from pydantic import ValidationError

from memaudit.auditing.summaries.group_parts import LeftOut, Subgroup


def test_a_group_states_whether_its_name_is_hidden():
    assert Subgroup(column="kind", number=1, name=None).name is None
    for part, facts in ((Subgroup, {"column": "kind", "number": 1}), (LeftOut, {"column": "kind", "records": 8})):
        with pytest.raises(ValidationError, match=r"name\n.*Field required"):
            part(**facts)
