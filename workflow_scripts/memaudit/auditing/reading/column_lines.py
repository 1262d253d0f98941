"""Lines on the screen that say how an audit reads each column of a table."""

from collections.abc import Mapping
from typing import Any

from memaudit.common.screen_lines import SHOWN, alike, listed

LOOKS = {"numbers": "pandas.to_numeric", "dates": "pandas.to_datetime"}  # what texts may look like
SAME = "the same in all rows"
EDIT = "to correct how a column is read, edit schema.yaml in the audit's folder and give the command again"


def column_lines(facts: Mapping[str, Any]) -> list[str]:
    """A line for each column by the intake's facts: its name, type, how its cells are read, why it is left out."""
    columns, readings = list(facts["columns"].values()), _remarks(facts)

    def plain(column: Mapping[str, Any]) -> bool:
        return column["use"] and column["name"] not in readings

    def text(column: Mapping[str, Any]) -> str:
        why = "" if column["use"] else f"  left out: {facts['left_out'][column['name']]}"
        how = f" ({readings[column['name']]})" if column["name"] in readings else ""
        return f"{column['type'] or '-'}{how}{why}"

    # Of a wide table the columns come first that are left out, or read in a way that has to be said.
    ordered = columns if len(columns) <= SHOWN else sorted(columns, key=plain)
    return [*(f"  {line}" for line in listed({one["name"]: text(one) for one in ordered})), EDIT]


def remark_lines(facts: Mapping[str, Any]) -> list[str]:
    """Lines on columns of a table in memory that are read otherwise than they look, or are the same in all rows."""
    remarks = {name: remark for name, remark in _remarks(facts).items() if name != facts["target"]}
    for kind, converted in LOOKS.items():
        said = f"texts that look like {kind} are read as words; to have {kind} read convert them before, by {converted}"
        looks = [name for name, remark in remarks.items() if f"its values look like {kind}" in remark]
        remarks |= {name: "; ".join([said] + [SAME] * (SAME in remarks[name])) for name in looks}
    return alike(remarks)


def _remarks(facts: Mapping[str, Any]) -> dict[str, str]:
    """By column how its cells are read, where that has to be said, and that they are all the same."""
    readings = dict(facts["readings"])
    same = facts.get("constant", [])  # facts of earlier versions have none
    return readings | {name: "; ".join(filter(None, [readings.get(name), SAME])) for name in same}
