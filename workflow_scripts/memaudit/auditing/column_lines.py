"""Lines on the screen that say how an audit reads each column of a table."""

from collections.abc import Mapping
from typing import Any

SHOWN = 40  # most columns that are printed
WIDEST = 40  # letters of a name
EDIT = "to correct how a column is read, edit schema.yaml in the audit's folder and give the command again"


def column_lines(facts: Mapping[str, Any]) -> list[str]:
    """A line for each column by the intake's facts: its name, type, how its cells are read, why it is left out."""
    lines = []
    columns, readings = list(facts["columns"].values()), dict(facts["readings"])
    same = facts.get("constant", [])  # facts of earlier versions have none
    readings |= {name: "; ".join(filter(None, [readings.get(name), "the same in all rows"])) for name in same}
    width = min(WIDEST, max(len(repr(one["name"])) for one in columns))

    def plain(column: Mapping[str, Any]) -> bool:
        return column["use"] and column["name"] not in readings

    # Of a wide table the columns come first that are left out, or read in a way that has to be said.
    for one in columns if len(columns) <= SHOWN else sorted(columns, key=plain)[:SHOWN]:
        why = "" if one["use"] else f"  left out: {facts['left_out'][one['name']]}"
        how = f" ({readings[one['name']]})" if one["name"] in readings else ""
        lines.append(f"  {repr(one['name'])[:WIDEST]:{width}}  {one['type'] or '-'}{how}{why}")
    if len(columns) > SHOWN:
        lines.append(f"  ... and {len(columns) - SHOWN} more")
    return [*lines, EDIT]
