"""Tables of docs/tuned-settings.md from the file of tuned settings and the public facts of the shipped tables."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from memaudit.plotting.result_tables import texts_table

Arms = Mapping[str, Mapping[str, Any]]  # by task and epsilon, and `cpu_seconds` where they were measured
TASKS = ("classification", "regression")


def context(
    tuned: Mapping[str, Any], arms: Mapping[str, Mapping[str, Any]], facts: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    """The values that docs/templates/tuned-settings.md names.

    tuned: a file of `make tune_tabpate`; arms: those compared, by name; facts: of config/public, by table.
    """
    lines = list(_lines(tuned["arms"]))
    counts = sorted({int(line[-1]) for line in lines})
    own = {one["tuned"] for one in arms.values() if one.get("tuned")}
    return {
        "effort": tuned["effort"],
        "settings": texts_table(
            ["method", "task", "epsilon", "chosen settings", "score", "second best", "candidates"], lines
        ),
        "counts": counts,
        "uneven": sorted({f"{name} ({task})" for name, task, *_, count in lines if int(count) != counts[-1]}),
        "undecided": _undecided(tuned["arms"]),
        "minutes": [
            f"{name} {max(1, round(one['cpu_seconds'] / 60))}"
            for name, one in sorted(tuned["arms"].items())
            if "cpu_seconds" in one
        ],
        "untuned": sorted(name for name, one in arms.items() if not one.get("tuned")),
        "untuned_here": sorted(own - set(tuned["arms"])),
        "bounds": texts_table(["table", "source", "bounds from the data"], _bounds(facts)),
    }


def _lines(arms: Arms) -> Iterator[list[str]]:
    """A line for each method, task and epsilon."""
    for name, task, epsilon, one in _each(arms):
        second, first = sorted(one["scores"])[-2:]
        yield [
            name,
            task,
            epsilon,
            _text(one["settings"]),
            f"{first:.3f}",
            f"{second:.3f}",
            str(len(one["candidates"])),
        ]


def _undecided(arms: Arms) -> list[str]:
    """Where all candidates have the same score, so that the first one stands."""
    return [f"{name} ({task}, {epsilon})" for name, task, epsilon, one in _each(arms) if len(set(one["scores"])) == 1]


def _each(arms: Arms) -> Iterator[tuple[str, str, str, Mapping[str, Any]]]:
    for name, tasks in arms.items():
        for task in (task for task in TASKS if task in tasks):
            epsilons = tasks[task]
            yield from ((name, task, epsilon, one) for epsilon, one in sorted(epsilons.items(), key=_number))


def _number(item: tuple[str, Any]) -> float:
    return float(item[0])


def _bounds(facts: Mapping[str, Mapping[str, Any]]) -> Iterable[list[str]]:
    return ([name, one["source"], ", ".join(one.get("bounds_from_data", []))] for name, one in sorted(facts.items()))


def _text(settings: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} {'none' if value is None else value}" for key, value in settings.items())
