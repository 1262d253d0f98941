"""Tables of docs/calibration.md from the JSON of repeated audits (results/bench/audit_calibration.json)."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from memaudit.plotting.result_tables import texts_table

SECTIONS = {
    "precision": ("precision", "precision of 64"),
    "quick": ("quick",),
    "controls": ("controls",),
    "extremes": ("no leak", "full leak"),
}
CONTEXTS = {"precision": "32", "precision of 64": "64"}
FAILED = ("misses", "not defined")
Row = Mapping[str, Any]


def context(measured: Mapping[str, Any]) -> dict[str, Any]:
    """The values that docs/templates/calibration.md names."""
    sources = measured["sources"]
    rows = [(name, row) for name, one in sources.items() for row in one["rows"]]
    facts = [
        [name, f"{one['records']} ({one['members']} members)", str(one["contexts"]), f"{one['cpu_seconds']:.0f}"]
        for name, one in sources.items()
    ]
    return {
        "minutes": sum(one["cpu_seconds"] for one in sources.values()) / 60,
        "verdicts": Counter(row["verdict"] for _, row in rows),
        "misses": _misses(rows),
        "tables": {title: _table(title, rows) for title in SECTIONS},
        "controls": _pooled([row for _, row in rows if row["check"] == "controls"]),
        "sources": texts_table(["answers", "records", "contexts in the pool", "CPU seconds"], facts),
        "most": max(one["records"] for one in sources.values()),
    }


def _table(title: str, rows: Iterable[tuple[str, Row]]) -> str:
    chosen = [(name, row) for name, row in rows if row["check"] in SECTIONS[title]]
    if title == "precision":
        head = ["answers", "contexts", "of", "stated", "holds", "mean width", "undefined", "verdict"]
        lines = [[name, CONTEXTS[row["check"]], row["metric"], *_range(row), row["verdict"]] for name, row in chosen]
    elif title == "quick":
        head = ["answers", "audits", "holds", "mean width", "verdict"]
        lines = [[name, str(row["n"]), _rate(row), _width(row), row["verdict"]] for name, row in chosen]
    else:
        head = ["answers", "of", "audits", "rate", "verdict"]
        lines = [[name, row["metric"], str(row["n"]), _rate(row), row["verdict"]] for name, row in chosen]
    return texts_table(head, lines) if lines else "Not measured yet."


def _misses(rows: Iterable[tuple[str, Row]]) -> str:
    lines = [
        [name, row["check"], row["metric"], _rate(row), row["verdict"]]
        for name, row in rows
        if row["verdict"] in FAILED
    ]
    return texts_table(["answers", "check", "of", "rate", "verdict"], lines) if lines else ""


def _pooled(rows: Iterable[Row]) -> str:
    """Share of the detected controls by kind, over all audits; "none" before any is measured."""
    kinds: dict[str, list[Row]] = {}
    for row in rows:
        kinds.setdefault(row["metric"], []).append(row)
    shares = {
        kind: np.average([one["rate"] for one in of_kind], weights=[one["n"] for one in of_kind])
        for kind, of_kind in kinds.items()
    }
    texts = [f"{kind} {share:.3f} of {sum(one['n'] for one in kinds[kind])}" for kind, share in shares.items()]
    return ", ".join(texts) or "none"


def _range(row: Row) -> list[str]:
    return [f"{row['level']:.3f}", _rate(row), _width(row), f"{row['refused']:.0%}"]


def _rate(row: Row) -> str:
    return "-" if row["rate"] is None else f"{row['rate']:.3f} ± {row['error'] or 0:.3f}"


def _width(row: Row) -> str:
    return "-" if row.get("width") is None else f"{row['width']:.3f}"
