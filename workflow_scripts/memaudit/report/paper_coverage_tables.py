"""Tables of docs/coverage-of-papers.md from config/coverage_of_papers.yaml."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from memaudit.plotting.result_tables import texts_table

HEAD = ["in the paper", "shows", "made by", "at config/paper.yaml"]
# The study `attacks` and the study `tabpate` have one paper.
Entries = Mapping[str, Sequence[Mapping[str, Any]]]


def context(entries: Entries, titles: Mapping[str, str]) -> dict[str, Any]:
    """The values that docs/templates/coverage-of-papers.md names; titles: of the papers, by study."""
    states = Counter(state(entry) for of_study in entries.values() for entry in of_study)
    made = states["complete"] + states["partial"]
    gated = sum(state(entry) == "complete" and "gated" in entry for of_study in entries.values() for entry in of_study)
    counts = {"total": made + states["diagram"], "made": made, "gated": gated}
    return {
        "counts": {"complete": 0, "partial": 0, "diagram": 0} | states | counts,
        "papers": [
            {"study": study, "title": titles[study], "table": texts_table(HEAD, map(_line, of_study))}
            for study, of_study in entries.items()
        ],
    }


def state(entry: Mapping[str, Any]) -> str:
    """`complete`, `partial` or `diagram`."""
    if not entry["made_by"]:
        return "diagram"
    return "partial" if {"missing", "without"} & entry.keys() else "complete"


def _line(entry: Mapping[str, Any]) -> list[str]:
    lacks = [entry["missing"]] if "missing" in entry else []
    lacks += [f"without gated weights ({', '.join(entry['without'])})"] if "without" in entry else []
    outcome = f"{state(entry)}: {'; '.join(lacks)}" if lacks else state(entry)
    outcome += f"; needs gated weights ({', '.join(entry['gated'])})" if "gated" in entry else ""
    return [entry["item"], entry["shows"], ", ".join(entry["made_by"]) or "-", outcome]
