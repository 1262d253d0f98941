"""A table in memory: which columns are features, and names of those that are added."""

import numpy as np
import pandas as pd
import pytest

from memaudit.auditing.reading import memory_table
from memaudit.auditing.reading.memory_table import parted, with_roles
from memaudit.common.errors import AuditError

TABLE = pd.DataFrame({"age": [1, 2], "town": ["a", "b"]})
LABELLED = TABLE.assign(churn=["no", "yes"], owner=["p", "q"])


def test_targets_are_given_or_named():
    X, y, groups = parted(LABELLED, None, "churn", None)
    assert (list(X.columns), y.tolist(), y.name, groups) == (["age", "town", "owner"], ["no", "yes"], "churn", None)
    assert list(LABELLED.columns) == ["age", "town", "churn", "owner"]
    X, y, groups = parted(TABLE, [0, 1], None, None)
    assert (X is TABLE, y, groups) == (True, [0, 1], None)
    assert with_roles(*parted(LABELLED, None, "churn", None))[1] == {"target": "churn"}


def test_groups_may_be_named_as_well():
    X, y, groups = parted(LABELLED, None, "churn", "owner")
    assert (list(X.columns), groups.tolist()) == (["age", "town"], ["p", "q"])
    X, y, groups = parted(LABELLED, LABELLED["churn"], None, "owner")
    assert (list(X.columns), groups.name) == (["age", "town", "churn"], "owner")
    assert with_roles(X, y, groups)[1] == {"target": "target", "group": "owner"}


def test_columns_may_be_called_by_numbers():
    X, y, _ = parted(pd.DataFrame(np.eye(3)), None, 2, None)
    assert (list(X.columns), y.tolist()) == ([0, 1], [0, 0, 1])


@pytest.mark.parametrize(
    ("X", "y", "target", "groups", "message"),
    [
        (TABLE, None, None, None, "^y, target: give exactly one of them"),
        (LABELLED, [0, 1], "churn", None, "^y, target: give exactly one of them"),
        (LABELLED, None, "Churn", None, "^target: X has no column 'Churn'; did you mean `churn`"),
        (LABELLED, None, ["churn"], None, "^target: X has no column"),
        (LABELLED, [0, 1], None, "ownr", "^groups: X has no column 'ownr'; did you mean `owner`"),
        (np.eye(2), None, 1, None, "^target=1: names a column, but X is no DataFrame of pandas; give the values"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), None, "a", None, "^X: two columns are called 'a'"),
    ],
)
def test_what_names_no_column_is_refused_in_one_line(X, y, target, groups, message):
    with pytest.raises(AuditError, match=message):
        parted(X, y, target, groups)


def test_categories_of_numbers_are_written_as_texts():
    table, _, _ = with_roles(TABLE.assign(age=pd.Categorical([3, None])), [0, 1], None)
    assert table["age"].tolist()[0] == "3"
    assert table["age"].isna().tolist() == [False, True]


def test_columns_of_targets_and_groups_have_the_names_of_their_series():
    y, groups = pd.Series([0, 1], name="Kündigung"), pd.Series(["p", "q"], name="customer")
    table, roles, stored = with_roles(TABLE, y, groups)
    assert roles == {"target": "Kündigung", "group": "customer"}
    assert list(table.columns) == ["age", "town", "Kündigung", "customer"]
    assert stored == ["c0", "c1"]


@pytest.mark.parametrize("name", [None, "AGE", "", "__index_level_0__"])
def test_a_name_that_a_further_column_cannot_have_is_not_taken(name):
    assert with_roles(TABLE, pd.Series([0, 1], name=name), None)[1] == {"target": "target"}


def test_a_target_and_groups_of_one_name_stay_apart():
    y = pd.Series([0, 1], name="who")
    assert with_roles(TABLE, y, y)[1] == {"target": "who", "group": "group"}
    assert with_roles(TABLE, [0, 1], pd.Series([0, 1], name=2024))[1] == {"target": "target", "group": "2024"}


def test_added_columns_get_names_that_the_table_does_not_have():
    assert memory_table._free("target", pd.DataFrame({"Target": [1], "target_": [2]})) == "target__"
