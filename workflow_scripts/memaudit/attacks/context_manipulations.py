"""Manipulations of a multiple-choice context, as data (ICLMEM, section 4.2, appendix A.3 and table 7).

A context has one row for each candidate label, all with the query's own features. A manipulation sets how often each
label occurs, the position of the true one, the removed columns and the number of random columns added. Factors
multiply, so steps compose in any order; the position of the true label is applied last.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from memaudit.common.arrays import Array32, Mask
from memaudit.common.errors import AuditError

PROBE_SIGNALS = ("loss", "entropy", "confidence", "error")  # of the answer to a manipulated context

Place = Literal["random", "first", "last"]
STEPS = {
    "shuffle": f"one of {', '.join(get_args(Place))}",
    "drop": "columns, from 1 on",
    "noise": "columns, from 1 on",
    "uniform": "a factor, from 2 on",
    "random": "the largest factor, from 2 on",
    "skew_true": "a factor, from 2 on",
    "skew_false": "{labels: from 1 on, factor: from 2 on}",
    "mixed": "{correct: a factor, incorrect: a factor}, from 2 on",
}


@dataclass(frozen=True)
class Context:
    """The context of one query under a manipulation.

    labels: (n,) index of each row's label among the candidates, in order; columns: (kept,) those of the query that are
    kept; noise: (n + 1, added) float32, standard normal cells of columns that are added after scaling, for each row
    and, last, for the query.
    """

    labels: NDArray[np.intp]
    columns: NDArray[np.intp]
    noise: Array32


@dataclass(frozen=True)
class Manipulation:
    """One manipulation; without any step it is the baseline. Factors of labels are 1 by default.

    shuffle: position of the rows of the true label, or all rows in random order; drop, noise: columns removed at random
    and added; uniform: of all labels; random: every label has its own factor, from 1 to this one; true: of the true
    label; false: of `labels` incorrect labels chosen at random (None: of all).
    """

    name: str
    category: str
    shuffle: Place | None = None
    drop: int = 0
    noise: int = 0
    uniform: int = 1
    random: int = 1
    true: int = 1
    false: int = 1
    labels: int | None = None

    def context(self, candidates: int, true: int, columns: int, rng: np.random.Generator) -> Context:
        """The context of a query with `candidates` labels, of which number `true` is the true one, and `columns`.

        At least one column is kept, and at most all incorrect labels are skewed.
        """
        counts = self.uniform * rng.integers(1, self.random + 1, candidates)
        incorrect = rng.permutation(np.delete(np.arange(candidates), true))
        counts[true] *= self.true
        counts[incorrect[: self.labels]] *= self.false
        rows = np.repeat(np.arange(candidates), counts)
        if self.shuffle == "random":
            rows = rng.permutation(rows)
        elif self.shuffle:
            rows = rows[np.argsort((rows == true) != (self.shuffle == "first"), kind="stable")]
        dropped = min(self.drop, columns - 1)
        kept = np.sort(rng.permutation(columns)[dropped:])
        return Context(rows, kept, rng.standard_normal((len(rows) + 1, self.noise), dtype=np.float32))

    def effect(self, candidates: int, columns: int | None) -> tuple[Any, ...]:
        """Key of the effect on a query, equal for equal effects; candidates, columns: their numbers (None: many)."""
        skewed = candidates - 1 if self.labels is None else min(self.labels, candidates - 1)
        incorrect = sorted([self.uniform * self.false] * skewed + [self.uniform] * (candidates - 1 - skewed))
        dropped = self.drop if columns is None else min(self.drop, columns - 1)
        return self.shuffle, dropped, self.noise, self.random, self.uniform * self.true, *incorrect


def parsed(entries: Sequence[Mapping[str, Any]]) -> tuple[Manipulation, ...]:
    """The suite of a config's list of {name, category, steps}; steps are one-key mappings, see STEPS.

    Raises AuditError for an entry with other keys, a repeated name, an unknown step, a value out of range, and two
    steps of one manipulation that set the same field.
    """
    if not entries:
        raise AuditError("manipulations: there are none; give at least one")
    suite: list[Manipulation] = []
    for entry in entries:
        if entry.keys() != {"name", "category", "steps"}:
            raise AuditError(f"manipulations: an entry has {', '.join(entry)}; it has name, category and steps")
        where = f"manipulations, {entry['name']}"
        if entry["name"] in {known.name for known in suite}:
            raise AuditError(f"{where}: is a repeated name; give each a name of its own")
        changes: dict[str, Any] = {}
        for step in entry["steps"]:
            change = _changes(step, where)
            if repeated := changes.keys() & change:
                raise AuditError(f"{where}: two steps set {min(repeated)}; set it once")
            changes |= change
        suite.append(Manipulation(entry["name"], entry["category"], **changes))
    return tuple(suite)


def effective(suite: Sequence[Manipulation], candidates: int, columns: int | None = None) -> Mask:
    """Mask (manipulation,) of the manipulations that repeat no earlier one.

    candidates, columns: their numbers (None: many). With two candidates there is only one incorrect label to skew.
    """
    effects = [manipulation.effect(candidates, columns) for manipulation in suite]
    return np.array([effects.index(effect) == place for place, effect in enumerate(effects)])


def _changes(step: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Fields of a Manipulation that a step sets."""
    ((name, value),) = step.items() if len(step) == 1 else [(", ".join(map(str, step)) or "nothing", None)]
    match name, value:
        case "shuffle", str() if value in get_args(Place):
            return {"shuffle": value}
        case "drop" | "noise", int() if _from(1, value):
            return {name: value}
        case "uniform" | "random", int() if _from(2, value):
            return {name: value}
        case "skew_true", int() if _from(2, value):
            return {"true": value}
        case "skew_false", {"labels": labels, "factor": factor, **rest} if not rest:
            if _from(1, labels) and _from(2, factor):
                return {"labels": labels, "false": factor}
        case "mixed", {"correct": correct, "incorrect": incorrect, **rest} if not rest:
            if _from(2, correct, incorrect):
                return {"true": correct, "false": incorrect}
    if name in STEPS:
        raise AuditError(f"{where}: {name} is {value!r}; give {STEPS[name]}")
    raise AuditError(f"{where}: there is no step {name!r}; a step is one of {', '.join(STEPS)}")


def _from(least: int, *values: Any) -> bool:
    return all(type(value) is int and value >= least for value in values)
