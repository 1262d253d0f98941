"""Headlines of all studies by question, each with marks for a drawing of its estimates, intervals and nulls."""

from dataclasses import dataclass
from itertools import groupby
from math import log
from typing import Any

import numpy as np
import pandas as pd

from memaudit.claims.headlines import QUESTIONS

MARGIN = 4
NUMBERS = ["estimate", "low", "high", "null"]


@dataclass(frozen=True)
class Mark:
    """Positions of a value on an axis from 0 to 100: estimate, interval, null; None: not a finite number."""

    name: str
    estimate: float | None
    low: float | None
    high: float | None
    null: float | None


@dataclass(frozen=True)
class Answer:
    """A sentence with the marks of its values; by_chance: names of the values whose interval includes their null.

    A value with neither interval nor null, such as a p-value, has no mark: its scale may not be that of the others.
    """

    study: str
    sentence: str
    marks: list[Mark]
    by_chance: list[str]


def answers(headlines: pd.DataFrame) -> dict[str, list[Answer]]:
    """Answers by question, from rows of `statistics.headlines.state`; the sentences of one headline share an axis."""
    by_question: dict[str, list[Answer]] = {question: [] for question in QUESTIONS.values()}
    for (study, key, _), rows in headlines.groupby(["study", "answers", "headline"], sort=False):
        axis = Axis.of(rows)
        for sentence, values in groupby(rows.itertuples(index=False), key=lambda row: row.sentence):
            by_question[QUESTIONS[key]].append(_answer(study, sentence, list(values), axis))
    return by_question


@dataclass(frozen=True)
class Axis:
    """An axis from the smallest to the largest drawn number; logarithmic only with two positive numbers or more."""

    low: float
    high: float
    log: bool

    @staticmethod
    def of(rows: pd.DataFrame) -> "Axis":
        """The axis that holds the estimates, intervals and nulls of these rows."""
        numbers = rows.loc[_is_drawn(rows), NUMBERS].to_numpy(float)
        finite = numbers[np.isfinite(numbers)]
        logarithmic = bool((rows["scale"] == "log").all()) and len(np.unique(finite[finite > 0])) > 1
        if logarithmic:
            finite = finite[finite > 0]
        # Without numbers the axis is empty, and every position on it is None.
        return Axis(float(finite.min(initial=np.inf)), float(finite.max(initial=-np.inf)), logarithmic)

    def place(self, value: float) -> float | None:
        """Position of a value between MARGIN and 100 - MARGIN; None if it is not finite."""
        if not np.isfinite(value):
            return None
        ends = self.low, min(max(value, self.low), self.high), self.high
        low, value, high = map(log, ends) if self.log else ends
        share = (value - low) / (high - low) if low < high else 0.5
        return round(MARGIN + (100 - 2 * MARGIN) * share, 2)


def _answer(study: str, sentence: str, values: list, axis: Axis) -> Answer:
    table = pd.DataFrame(values)
    drawn = table.loc[_is_drawn(table), ["value", *NUMBERS]].itertuples(index=False, name=None)
    marks = [Mark(name, *map(axis.place, numbers)) for name, *numbers in drawn]
    return Answer(study, sentence, marks, [row.value for row in values if _includes_null(row)])


def _is_drawn(rows: pd.DataFrame) -> pd.Series:
    return rows[["low", "high", "null"]].notna().any(axis=1)


def _includes_null(row: Any) -> bool:
    return row.low <= row.null <= row.high  # false with NaN: a value without an interval does not count
