"""The answers in numbers: each headline with a drawing of its intervals and of what chance would give."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from math import log

import numpy as np
import pandas as pd

from memaudit.evaluation.headlines import QUESTIONS

MARGIN = 4


@dataclass(frozen=True)
class Mark:
    """A value on an axis from 0 to 100: its estimate, its null and the ends of its interval; None: there is none."""

    name: str
    estimate: float
    low: float | None
    high: float | None
    null: float | None


@dataclass(frozen=True)
class Answer:
    """A sentence with the marks of its values; by_chance: some interval includes its null."""

    study: str
    sentence: str
    marks: list[Mark]
    by_chance: bool


def answers(headlines: pd.DataFrame) -> dict[str, list[Answer]]:
    """Answers by question, from rows of `evaluation.headlines.state`; the sentences of one headline share an axis."""
    found: dict[str, list[Answer]] = {question: [] for question in QUESTIONS.values()}
    for (study, key, _), rows in headlines.groupby(["study", "answers", "headline"], sort=False):
        axis = Axis.of(rows)
        for sentence, values in groupby(rows.itertuples(index=False), key=lambda row: row.sentence):
            found[QUESTIONS[key]].append(_answer(study, sentence, list(values), axis))
    return found


@dataclass(frozen=True)
class Axis:
    """From the smallest to the largest number that is shown."""

    low: float
    high: float
    log: bool

    @staticmethod
    def of(rows: pd.DataFrame) -> "Axis":
        """The axis that holds the estimates, intervals and nulls of these rows."""
        numbers = rows[["estimate", "low", "high", "null"]].to_numpy(float)
        logarithmic = bool((rows["scale"] == "log").all())
        shown = numbers[(numbers > 0) if logarithmic else np.isfinite(numbers)]
        return Axis(float(shown.min()), float(shown.max()), logarithmic)

    def place(self, value: float) -> float | None:
        """Where a value stands between MARGIN and 100 - MARGIN; None where there is none."""
        if np.isnan(value):
            return None
        low, high = self.low, max(self.high, self.low + 1e-12)
        value = min(max(value, low), high)
        share = log(value / low) / log(high / low) if self.log else (value - low) / (high - low)
        return round(MARGIN + (100 - 2 * MARGIN) * share, 2)


def _answer(study: str, sentence: str, values: list, axis: Axis) -> Answer:
    marks = [Mark(row.value, *(axis.place(x) for x in (row.estimate, row.low, row.high, row.null))) for row in values]
    return Answer(study, sentence, marks, any(_includes_null(values)))


def _includes_null(values: list) -> Iterator[bool]:
    # Comparisons with NaN are false: a value without an interval says nothing here.
    return (row.low <= row.null <= row.high for row in values)
