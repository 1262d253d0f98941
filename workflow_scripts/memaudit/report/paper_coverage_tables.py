"""Tables of docs/coverage-of-papers.md from config/coverage_of_papers.yaml."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from memaudit.plotting.result_tables import texts_table

PAPER, OVERLAY = "config/paper.yaml", "config/paper_gated.yaml"
HEAD = ["in the paper", "shows", "made by", f"at {PAPER}"]
# The study `attacks` and the study `tabpate` have one paper.
Entries = Mapping[str, Sequence[Mapping[str, Any]]]


def context(entries: Entries, titles: Mapping[str, str]) -> dict[str, Any]:
    """The values that docs/templates/coverage-of-papers.md names; titles: of the papers, by study."""
    states = Counter(state(entry) for of_study in entries.values() for entry in of_study)
    made = sum(states.values()) - states["diagram"]
    gated = sum(state(entry) == "complete" and "gated" in entry for of_study in entries.values() for entry in of_study)
    counts = {"total": made + states["diagram"], "made": made, "gated": gated}
    return {
        "counts": {"complete": 0, "overlay": 0, "partial": 0, "diagram": 0} | states | counts,
        "papers": [
            {"study": study, "title": titles[study], "table": texts_table(HEAD, map(_line, of_study))}
            for study, of_study in entries.items()
        ],
    }


def state(entry: Mapping[str, Any]) -> str:
    """`complete`, `overlay` (complete with config/paper_gated.yaml), `partial` or `diagram`."""
    if not entry["made_by"]:
        return "diagram"
    if {"missing", "without"} & entry.keys():
        return "partial"
    return "overlay" if "overlay" in entry else "complete"


def _line(entry: Mapping[str, Any]) -> list[str]:
    lacks = [entry["missing"]] if "missing" in entry else []
    lacks += [f"without gated weights ({', '.join(entry['without'])})"] if "without" in entry else []
    outcome = f"partial: {'; '.join(lacks)}" if lacks else "diagram" if state(entry) == "diagram" else "complete"
    outcome += f"; needs gated weights ({', '.join(entry['gated'])})" if "gated" in entry else ""
    if "overlay" in entry:
        weights = f"gated weights ({', '.join(entry['overlay'])})"
        outcome += f"; with {weights} at {OVERLAY}" if lacks else f" with {OVERLAY}, which needs {weights}"
    return [entry["item"], entry["shows"], ", ".join(entry["made_by"]) or "-", outcome]
