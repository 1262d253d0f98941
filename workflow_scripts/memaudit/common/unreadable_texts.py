"""The error of a model that is given columns of texts which it cannot read."""

from collections.abc import Iterable, Mapping
from typing import Any

from memaudit.common.errors import AuditError


def unreadable_texts(schema: Mapping[str, Any], columns: Iterable[Mapping[str, Any]]) -> AuditError:
    """The error that names the columns, as the table's owner calls them, and the data set, where its schema says it."""
    names = [column.get("source", column["name"]) for column in columns]
    where = f"data set {schema['dataset']}: " if "dataset" in schema else ""
    return AuditError(
        f"{where}column {', '.join(map(repr, names))} holds texts that are no categories, which this model cannot "
        f"read; leave it out by `drop: {names}` in the table's entry of `datasets`"
    )
