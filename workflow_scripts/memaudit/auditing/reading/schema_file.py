"""The file schema.yaml beside an audit: how the table is read, for the user to edit."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from memaudit.common.cell_notations import ORDERS, SEPARATORS
from memaudit.common.errors import AuditError
from memaudit.common.io import replacing
from memaudit.data.column_schema import TYPES

EDIT = """\
# How the table is read. Edit it and give the same command again:
# type is numeric, categorical, text or date; use: false leaves a column out. reading says how the cells are read,
# left_out why the audit does not use a column. decimal: "," (or ".") and dates: dmy (or mdy, ymd) beside a type replace
# the options of the command for this column.
"""


def edited(schema: Path) -> dict[str, Any] | None:
    """The user's schema.yaml by column, None if there is none yet. Raises AuditError if it is invalid."""
    if not schema.exists():
        return None
    try:
        entries = yaml.safe_load(schema.read_text(encoding="utf-8"))["columns"]
        columns = {
            entry["name"]: {"type": entry["type"], "use": entry["use"]}
            | {key: entry.get(key) for key in ("decimal", "dates", "left_out")}
            for entry in entries
        }
    except (yaml.YAMLError, UnicodeError, KeyError, TypeError):
        raise AuditError("schema.yaml: cannot be read; delete it, and the audit writes a new one") from None
    for name, column in columns.items():
        if column["type"] not in TYPES or not isinstance(column["use"], bool):
            raise AuditError(
                f"schema.yaml, column {name!r}: type must be one of {', '.join(TYPES)}, use must be true or false"
            )
        if column["decimal"] not in (None, *SEPARATORS) or column["dates"] not in (None, *ORDERS):
            raise AuditError(
                f'schema.yaml, column {name!r}: decimal must be "." or ",", and dates one of {", ".join(ORDERS)}'
            )
    return columns


def offer(schema: Path, facts: Mapping[str, Any]) -> None:
    """Write how the columns were read, for the user to edit; facts: of the intake."""
    remarks = {"reading": facts["readings"], "left_out": facts["left_out"]}
    columns = [
        column | {key: of[column["name"]] for key, of in remarks.items() if column["name"] in of}
        for column in facts["columns"].values()
        if column["type"]
    ]
    text = yaml.safe_dump({"columns": columns}, sort_keys=False, default_flow_style=None, allow_unicode=True)
    with replacing(schema) as temporary:
        temporary.write_text(EDIT + text, encoding="utf-8")
