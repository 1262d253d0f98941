"""Tables of docs/coverage.md from the JSON of simulations (results/bench/coverage.json)."""

from collections.abc import Iterable, Mapping
from typing import Any

from memaudit.plotting.result_tables import texts_table

HEADS = {
    "interval": ["scenario", "of", "coverage", "mean width", "refused", "verdict"],
    "test": ["scenario", "of", "false rejections", "refused", "verdict"],
    "bound": ["scenario", "of", "above the truth", "bound / truth", "refused", "verdict"],
}
EXTRA = {"interval": ["width"], "test": [], "bound": ["tightness"]}


def context(simulated: Mapping[str, Any]) -> dict[str, Any]:
    """The values that docs/templates/coverage.md names: sections of cases, and what does not hold as stated."""
    cases, groups = simulated["cases"], simulated["groups"]
    rows = [row for case in cases.values() for row in case["rows"]]
    return {
        "sections": {group: [_case(case) for case in cases.values() if case["group"] == group] for group in groups},
        "simulations": max(case["simulations"] for case in cases.values()),
        "minutes": sum(case["cpu_seconds"] for case in cases.values()) / 60,
        "verdicts": {name: sum(row["verdict"] == name for row in rows) for name in _in_order(rows)},
        "exceptions": _exceptions(cases.values()),
    }


def _case(case: Mapping[str, Any]) -> dict[str, Any]:
    kind = case["rows"][0]["kind"]
    lines = [[row["scenario"], row["metric"], _rate(row), *_extra(row, kind)] for row in case["rows"]]
    return {**case, "table": texts_table(HEADS[kind], lines)}


def _rate(row: Mapping[str, Any]) -> str:
    if row["rate"] is None:
        return "-"
    return f"{row['rate']:.3f} ± {row['error'] or 0:.3f}"


def _extra(row: Mapping[str, Any], kind: str) -> list[str]:
    values = ["-" if row.get(name) is None else f"{row[name]:.3g}" for name in EXTRA[kind]]
    return [*values, f"{row['refused']:.1%}", row["verdict"]]


def _in_order(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    return list(dict.fromkeys(row["verdict"] for row in rows))


def _exceptions(cases: Iterable[Mapping[str, Any]]) -> str:
    """Table of what is too narrow or rejects too often, with what holds for its use."""
    lines = [
        [case["name"], row["scenario"], row["metric"], _rate(row), row["verdict"], case["use"]]
        for case in cases
        for row in case["rows"]
        if row["verdict"] in ("too narrow", "too often")
    ]
    return texts_table(["what", "scenario", "of", "rate", "verdict", "use"], lines)
