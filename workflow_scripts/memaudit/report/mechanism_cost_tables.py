"""Sentences and tables of docs/mechanism-costs.md from results/bench/mechanism_costs.json."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from memaudit.plotting.result_tables import texts_table

Row = Mapping[str, Any]
MORE = 1.1  # times the labels of the data-independent cost: less is within what the choice of an order changes
ALL, BEST = "all candidates", "best for each"
WAYS = ("independent", "released", "unreleased")


def context(measured: Mapping[str, Any]) -> dict[str, Any]:
    """The values that docs/templates/mechanism-costs.md names; measured: parts, by name."""
    most = measured["most"]
    parts = {name: part["rows"] for name, part in measured["parts"].items()}
    votes = [row for name, rows in parts.items() if name.startswith("votes ") for row in rows]
    return {
        "minutes": sum(part["cpu_seconds"] for part in measured["parts"].values()) / 60,
        "delta": f"{measured['delta']:g}",
        "sentences": [*_of_votes(votes), *_of_best_noise(parts["labels"]), *_of_selection(parts["selection"])],
        "tables": len({row["table"] for row in votes}),
        "votes": texts_table(
            ["table", "records", "classes", "teachers", "nine in ten agree", "epsilon", *WAYS],
            [[*_facts(row), f"{row['epsilon']:g}", *_counts(row, most)] for row in votes],
        ),
        "labels": texts_table(
            ["teachers", "agreement", "epsilon", "noise", *WAYS],
            [
                [
                    str(row["teachers"]),
                    f"{row['agreement']:.0%}",
                    f"{row['epsilon']:g}",
                    row["noise"],
                    *_counts(row, most),
                ]
                for row in parts["labels"]
            ],
        ),
        "selection": texts_table(*_selection(parts["selection"])),
    }


def _of_votes(rows: Sequence[Row]) -> Iterator[str]:
    """For each epsilon and number of teachers: whether the released cost buys labels on the tables."""
    for epsilon in sorted({row["epsilon"] for row in rows}):
        for teachers in sorted({row["teachers"] for row in rows}):
            ratios = [
                row["released"] / row["independent"]
                for row in rows
                if (row["epsilon"], row["teachers"]) == (epsilon, teachers)
            ]
            found = f"{min(ratios):.2f} to {max(ratios):.2f} times" if len(ratios) > 1 else f"{ratios[0]:.2f} times"
            yield (
                f"Epsilon {epsilon:g}, {teachers} teachers ({len(ratios)} tables): the released data-dependent cost "
                f"buys {_bought(ratios)}, {found} the labels."
            )


def _of_best_noise(rows: Sequence[Row]) -> Iterator[str]:
    """For each epsilon: numbers of teachers with which the released cost buys labels, with the best noise of each."""
    best = [row for row in rows if row["noise"] == BEST]
    for epsilon in sorted({row["epsilon"] for row in best}):
        more = {row["teachers"] for row in best if row["epsilon"] == epsilon and _is_more(row)}
        bought = f"more labels with {' and '.join(map(str, sorted(more)))} teachers alone" if more else "nothing"
        yield (
            f"Epsilon {epsilon:g}, noise chosen for each cost by itself, teachers that agree by "
            f"{min(row['agreement'] for row in best):.0%} or more in every query: it buys {bought}."
        )


def _is_more(row: Row) -> bool:
    return bool(row["released"] > MORE * row["independent"])


def _bought(ratios: Sequence[float]) -> str:
    more = sum(ratio > MORE for ratio in ratios)
    return "more labels" if more == len(ratios) else f"more labels on {more} of them" if more else "nothing"


def _of_selection(rows: Sequence[Row]) -> Iterator[str]:
    """For each epsilon and number of candidates: whether a random number of runs leaves more for one run."""
    for count in sorted({row["candidates"] for row in rows}):
        same = [row for row in rows if row["candidates"] == count]
        paid = next(row for row in same if row["way"] == ALL)
        others = [row for row in same if row["way"] != ALL]
        for epsilon in paid["share"]:
            best = max(others, key=lambda row: row["share"][epsilon])
            ratio = best["share"][epsilon] / paid["share"][epsilon]
            kind = "more" if ratio > MORE else "less" if ratio < 1 else "hardly more"
            yield (
                f"Epsilon {epsilon}, {count} candidates: private selection ({best['way']} numbers) leaves a run "
                f"{kind}, {ratio:.2f} times the rho of paying for all, and misses the best one in "
                f"{1 - best['chance']:.0%}."
            )


def _selection(rows: Sequence[Row]) -> tuple[list[str], list[list[str]]]:
    epsilons = list(rows[0]["share"])
    head = ["candidates", "way", "expected runs", "best one is run"]
    head += [f"rho of a run at epsilon {one}" for one in epsilons] + [f"total of runs of {one}" for one in epsilons]
    cells = [
        [
            str(row["candidates"]),
            row["way"],
            f"{row['runs']:.1f}",
            f"{row['chance']:.0%}",
            *(f"{row['share'][one]:.1%}" for one in epsilons),
            *(f"{row['total'][one]:.2f}" for one in epsilons),
        ]
        for row in rows
    ]
    return head, cells


def _facts(row: Row) -> list[str]:
    return [
        row["table"],
        f"{row['records']:,}",
        str(row["classes"]),
        str(row["teachers"]),
        f"{row['agreed']:.0%}",
    ]


def _counts(row: Row, most: int) -> list[str]:
    return [f"{most:,} or more" if row[way] >= most else f"{row[way]:,.1f}" for way in WAYS]
