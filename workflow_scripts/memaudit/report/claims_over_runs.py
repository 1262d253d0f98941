"""The verdict of each claim over all published runs, counted by study; statements that no paper makes are apart."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from memaudit.claims.verdicts import DIRECTION, IDENTITY, NOT_REPRODUCED, NOT_TESTABLE, REPRODUCED
from memaudit.plotting.result_tables import texts_table

VERDICTS = (REPRODUCED, DIRECTION, NOT_REPRODUCED, IDENTITY, NOT_TESTABLE)
OWN = "not in the paper"  # the place of a statement of the project's own
COMPARED = "holds in "  # how the reason of a verdict begins that compares results
Published = Mapping[str, Any]


def verdicts(runs: Iterable[Published], *, own: bool = False) -> dict[str, dict[str, str]]:
    """The verdict by claim and by study, of the first of the runs that has results to compare.

    Runs that were sized for a claim, as their publication says, come first for it. A verdict of a later run does not
    replace that of one whose intervals are too wide: that would be a choice by outcome. own: the statements that no
    paper makes, instead of the papers' claims.
    """
    found: dict[str, dict[str, str]] = {}
    final = set()
    for study, row in _judged(runs):
        if (row["place"] == OWN) != own or row["id"] in final:
            continue
        found.setdefault(study, {})[row["id"]] = row["verdict"]
        if row["verdict"] != NOT_TESTABLE or row["reason"].startswith(COMPARED):
            final.add(row["id"])
    return found


def _judged(runs: Iterable[Published]) -> list[tuple[str, Mapping[str, str]]]:
    """Study and verdict of the claims of all runs in their order, those first that a run was sized for."""
    lines = [
        (row["id"] not in published.get("sized_for", ()), study, row)
        for published in runs
        for study, one in published["studies"].items()
        for row in one.get("claims", {"rows": []})["rows"]
    ]
    return [(study, row) for _, study, row in sorted(lines, key=lambda line: line[0])]


def table(default: Published, others: Iterable[Published], *, own: bool = False) -> str:
    """Numbers of claims by study and verdict, as Markdown; others: runs that the same predicates have judged.

    Runs of one study come before the default run, those that took more CPU time first, so that it does not depend on
    their verdicts which of two is counted. own: see `verdicts`.
    """
    ordered = sorted(others, key=lambda one: -one["made"]["cpu_seconds"])
    counted = {study: Counter(claims.values()) for study, claims in verdicts([*ordered, default], own=own).items()}
    counted = {study: counts for study, counts in sorted(counted.items()) if counts}
    total = sum(counted.values(), Counter())
    rows = [
        [study, *(str(counts[verdict]) for verdict in VERDICTS), f"{counts[NOT_TESTABLE] / counts.total():.0%}"]
        for study, counts in (*counted.items(), ("all", total))
    ]
    return texts_table(["study", *VERDICTS, "share that is not testable"], rows)
