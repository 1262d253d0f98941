"""Lines on the screen that say how an audit reads each column of a table."""

from collections.abc import Mapping
from typing import Any

from memaudit.common.screen_lines import SHOWN, listed

EDIT = "to correct how a column is read, edit schema.yaml in the audit's folder and give the command again"


def column_lines(facts: Mapping[str, Any]) -> list[str]:
    """A line for each column by the intake's facts: its name, type, how its cells are read, why it is left out."""
    columns, readings = list(facts["columns"].values()), dict(facts["readings"])
    same = facts.get("constant", [])  # facts of earlier versions have none
    readings |= {name: "; ".join(filter(None, [readings.get(name), "the same in all rows"])) for name in same}

    def plain(column: Mapping[str, Any]) -> bool:
        return column["use"] and column["name"] not in readings

    def text(column: Mapping[str, Any]) -> str:
        why = "" if column["use"] else f"  left out: {facts['left_out'][column['name']]}"
        how = f" ({readings[column['name']]})" if column["name"] in readings else ""
        return f"{column['type'] or '-'}{how}{why}"

    # Of a wide table the columns come first that are left out, or read in a way that has to be said.
    ordered = columns if len(columns) <= SHOWN else sorted(columns, key=plain)
    return [*(f"  {line}" for line in listed({one["name"]: text(one) for one in ordered})), EDIT]
