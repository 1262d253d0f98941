"""Tables of docs/release-audit.md from the JSON of audited releases (results/bench/release_audit.json)."""

from collections.abc import Iterable, Mapping
from typing import Any

from memaudit.plotting.result_tables import texts_table

AS_RELEASED = "as released"
COLUMNS = ("epsilon_promised", "epsilon_bound", "epsilon_possible", "mu_promised", "mu_bound", "mu_possible")
HEAD = ["epsilon promised", "lower bound", "expected best bound", "mu promised", "lower bound", "expected best"]
Row = Mapping[str, Any]


def context(measured: Mapping[str, Any]) -> dict[str, Any]:
    """The values that docs/templates/release-audit.md names."""
    rows = list(measured["conditions"].values())
    intact = [row for row in rows if row["broken"] == AS_RELEASED]
    broken = [row for row in rows if row["broken"] != AS_RELEASED]
    return {
        "minutes": sum(row["cpu_seconds"] for row in rows) / 60,
        "refuted": [_named(row) for row in intact if row["refuted"]],
        "missed": [_named(row) for row in broken if not row["refuted"]],
        "bounds": len(intact),
        "controls": len(broken),
        "intact": texts_table(["part", "canary", "releases", *HEAD], [_line(row, row["canary"]) for row in intact]),
        "broken": texts_table(
            ["part", "what is broken", "releases", *HEAD, "detected"],
            [[*_line(row, row["broken"]), "yes" if row["refuted"] else "no"] for row in broken],
        ),
    }


def _line(row: Row, what: str) -> list[str]:
    releases = "1" if row["part"] == "one release" else f"{row['n']:,}"
    return [row["part"], what, releases, *_numbers(row)]


def _numbers(row: Row) -> Iterable[str]:
    return (f"{row[column]:.2f}" for column in COLUMNS)


def _named(row: Row) -> str:
    return f"{row['part']} ({row['broken']})"
