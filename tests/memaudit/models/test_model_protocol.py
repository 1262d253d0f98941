"""Limits of a model are checked before it is used."""

import pytest

from memaudit.common.errors import AuditError
from memaudit.models.model_protocol import Limits


def test_a_table_within_the_limits_passes():
    Limits(rows=10, features=None, classes=3).check("here", 10, 10_000, 3)
    Limits(rows=10, features=2, classes=3).check("here", 10)


@pytest.mark.parametrize(
    ("size", "line"),
    [
        ((11, 2, 3), "here: 11 context rows, the model takes at most 10"),
        ((10, 3, 3), "here: 3 features, the model takes at most 2"),
        ((10, 2, 4), "here: 4 classes, the model takes at most 3"),
    ],
)
def test_a_larger_table_is_refused(size, line):
    with pytest.raises(AuditError, match=line):
        Limits(rows=10, features=2, classes=3).check("here", *size)
