"""Private, held-out and test records: shares of units, stratified, and groups that stay together."""

import numpy as np
import pandas as pd
import pytest

from memaudit.common.errors import AuditError
from memaudit.data.public_private_split import HELD_OUT, PRIVATE, TEST, nominal_private, roles

SETTINGS = {"test": 0.25, "held_out": 0.5, "max_records": None}


def records(**columns):
    return pd.DataFrame({"id": [f"{i:04}" for i in range(400)], "target": ["a", "a", "a", "b"] * 100} | columns)


def draw(table, **settings):
    return roles(table, SETTINGS | settings, np.random.default_rng(0))


def test_roles_have_their_shares_in_every_class():
    table = records()
    shares = pd.crosstab(table["target"], draw(table), normalize="index")
    np.testing.assert_allclose(shares[[PRIVATE, HELD_OUT, TEST]], [[0.375, 0.375, 0.25]] * 2, atol=0.01)


def test_a_group_has_one_role():
    table = records(group=np.arange(400) // 4)
    assert table.assign(role=draw(table)).groupby("group")["role"].nunique().eq(1).all()


def test_records_that_are_not_drawn_have_no_role():
    assert (draw(records(), max_records=100) == "").sum() == 300


def test_shares_that_leave_a_role_empty_are_refused():
    with pytest.raises(AuditError, match="cannot be drawn"):
        draw(records(), held_out=0.0)


@pytest.mark.parametrize("most", [None, 100])
@pytest.mark.parametrize("held_out", [False, True])
def test_the_nominal_number_of_private_records_is_near_the_true_one_and_follows_from_public_numbers(most, held_out):
    role = draw(records(), max_records=most)
    private = (role == PRIVATE) | ((role == HELD_OUT) & (not held_out))
    assert nominal_private(400, SETTINGS | {"max_records": most}, held_out) == pytest.approx(private.sum(), abs=3)
