"""A user's table in memory: its features, targets and groups, and the table that is written for an audit."""

from typing import Any

import numpy as np
import pandas as pd

from memaudit.auditing.reading.column_hints import column_hint
from memaudit.auditing.reading.intake import safe_names
from memaudit.common.errors import AuditError

TARGET, GROUP = "target", "group"  # columns of targets and groups that have no name of their own
INDEX = "__index_level_"  # start of the names that Parquet reserves for an index


def parted(X: Any, y: Any, target: Any, groups: Any) -> tuple[Any, Any, Any]:
    """Features, targets and groups, of which the frame X may hold the latter two in columns that are named.

    Raises AuditError for none or two forms of the targets, and for a column that X does not have.
    """
    if (y is None) == (target is None):
        raise AuditError(
            "y, target: give exactly one of them, the targets as y or the name of their column in X as target"
        )
    named = []
    if target is not None:
        y, named = _column(X, target, "target"), [target]
    if groups is not None and np.ndim(groups) == 0:
        groups, named = _column(X, groups, "groups"), [*named, groups]
    return (X.drop(columns=named) if named else X), y, groups


def _column(X: Any, name: Any, argument: str) -> pd.Series:
    """A column of the user's frame by its name. Raises AuditError where X has no such column, or two."""
    if not isinstance(X, pd.DataFrame):
        raise AuditError(
            f"{argument}={name!r}: names a column, but X is no DataFrame of pandas; give the values of each row"
        )
    if not pd.api.types.is_hashable(name) or name not in X.columns:
        raise AuditError(f"{argument}: X has no column {name!r}{column_hint(str(name), [*map(str, X.columns)])}")
    if X.columns.tolist().count(name) > 1:
        raise AuditError(f"X: two columns are called {name!r}; rename one")
    return X[name]


def with_roles(X: Any, y: Any, groups: Any) -> tuple[pd.DataFrame, dict[str, Any], list[str]]:
    """The table with the targets, and the groups if any, as columns of their own, as texts where it has categories.

    Beside it the names of these columns, and the names that the intake gives the features. Raises AuditError for names
    that are not unique or not columns', and for targets or groups that are not one for each row.
    """
    features = features_of(X)
    table = features.rename(columns=str).reset_index(drop=True)
    if twice := table.columns[table.columns.duplicated()].tolist():
        raise AuditError(f"X: two columns are called {twice[0]!r}; rename one")
    if unfit := [name for name in table.columns if name.startswith(INDEX)]:
        raise AuditError(f"X: {unfit[0]!r} is a name of Parquet's for an index; rename the column")
    for name, column in table.items():
        if isinstance(column.dtype, pd.CategoricalDtype):  # Parquet would keep its numbers as numbers
            table[name] = column.astype(object).map(str, na_action="ignore")
    for name, values in (("y", y), ("groups", groups)):
        if (name == "y" or values is not None) and (np.ndim(values) != 1 or len(values) != len(table)):
            raise AuditError(f"X has {len(table)} rows and {name} the shape {np.shape(values)}: give one for each row")
    count, roles = table.shape[1], {}
    for role, values, name in (("target", y, TARGET), ("group", groups, GROUP)):
        if values is not None:
            roles[role] = _free(_own_name(values, table) or name, table)
            table[roles[role]] = pd.Series(values).to_numpy()
    return table, roles, list(safe_names(table.columns).values())[:count]


def _own_name(values: Any, table: pd.DataFrame) -> str | None:
    """The name of a Series, None where it has none that a further column of the table can have."""
    if not isinstance(values, pd.Series) or values.name is None:
        return None
    name = str(values.name)
    usable = name.strip() and not name.startswith(INDEX) and name == _free(name, table)
    usable = usable and name.lower() != "file_row_number" and name.isprintable()
    return name if usable else None


def features_of(X: Any) -> pd.DataFrame:
    """The features as a frame. Raises AuditError for what is no table."""
    try:
        features = pd.DataFrame(X)
    except (TypeError, ValueError) as error:
        raise AuditError(f"X: is no table ({error}); give a frame or an array (record, column)") from error
    if features.columns.nlevels > 1:
        raise AuditError("X: its columns have several levels of names; give each one name")
    return features


def _free(name: str, table: pd.DataFrame) -> str:
    """The name, with underscores appended until no column has it."""
    while name.lower() in {column.lower() for column in table}:
        name += "_"
    return name
