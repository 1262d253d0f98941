"""The verdict of each claim over all published runs, counted by study."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from memaudit.plotting.result_tables import texts_table
from memaudit.statistics.verdicts import DIRECTION, IDENTITY, NOT_REPRODUCED, NOT_TESTABLE, REPRODUCED

VERDICTS = (REPRODUCED, DIRECTION, NOT_REPRODUCED, IDENTITY, NOT_TESTABLE)
Published = Mapping[str, Any]


def verdicts(runs: Iterable[Published]) -> dict[str, dict[str, str]]:
    """The verdict by claim and by study, of the first of the runs that can test the claim."""
    found: dict[str, dict[str, str]] = {}
    for published in runs:
        for study, one in published["studies"].items():
            for row in one.get("claims", {"rows": []})["rows"]:
                known = found.setdefault(study, {})
                if known.get(row["id"], NOT_TESTABLE) == NOT_TESTABLE:
                    known[row["id"]] = row["verdict"]
    return found


def table(default: Published, others: Iterable[Published]) -> str:
    """Numbers of claims by study and verdict, as Markdown; others: runs that the same predicates have judged.

    Runs of one study come before the default run, those that took more CPU time first, so that it does not depend on
    their verdicts which of two that can test a claim is counted.
    """
    ordered = sorted(others, key=lambda one: -one["made"]["cpu_seconds"])
    counted = {study: Counter(claims.values()) for study, claims in verdicts([*ordered, default]).items()}
    counted = {study: counts for study, counts in sorted(counted.items()) if counts}
    total = sum(counted.values(), Counter())
    rows = [
        [study, *(str(counts[verdict]) for verdict in VERDICTS), f"{counts[NOT_TESTABLE] / counts.total():.0%}"]
        for study, counts in (*counted.items(), ("all", total))
    ]
    return texts_table(["study", *VERDICTS, "share that is not testable"], rows)
