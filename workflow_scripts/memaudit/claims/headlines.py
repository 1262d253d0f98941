"""Headlines: a study's main results as sentences, each with an interval and a null; data only, as the claims are."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import pandas as pd
from pydantic import Field, field_validator

from memaudit.claims.claim_comparisons import Value
from memaudit.claims.row_selection import Selection, Strict, Wanted, select
from memaudit.common import tidy

QUESTIONS = {
    "memorized": "What has the model memorized?",
    "trust": "How far can the measurement be trusted?",
    "defence": "What does a private defence cost?",
}
NUMBERS = ["estimate", "low", "high", "null"]
COLUMNS = ["study", "answers", "headline", "sentence", "scale", "value", *NUMBERS]


class Headline(Strict):
    """One sentence for each combination of the keys `per` for which all of its values are there.

    sentence: names keys of `per`, and values: {auc} is "0.6 [0.5, 0.7]", {auc.null:.3g} what chance would give, {auc.n}
    its number of entries, {auc.keys[poison]:g} another key of its row, {auc.shown} "above", "below" or "not shown to
    differ from" by its interval and its null. Values that are compared have rows of their own difference on the same
    records.
    values: which row each of them is, whole (no `quantity`); there may be one at most.
    provided: a row whose interval must lie above what chance gives for there to be a sentence.
    scale: of the axis that shows them.
    """

    answers: Literal["memorized", "trust", "defence"]
    sentence: str
    per: list[str] = Field(min_length=1)
    values: dict[str, Selection] = Field(min_length=1)
    where: dict[str, Wanted] = Field({})
    provided: Selection | None = None
    scale: Literal["linear", "log"] = "linear"

    @field_validator("values")
    @classmethod
    def _are_whole(cls, values: dict[str, Selection]) -> dict[str, Selection]:
        if any(selection.quantity != "estimate" for selection in values.values()):
            raise ValueError(
                "a headline's value is a whole row: leave `quantity` out, name {value.low} in the sentence"
            )
        return values


@dataclass(frozen=True)
class Result(Value):
    """A value as a sentence names it; keys: of its row."""

    null: float
    n: int
    keys: Mapping[str, Any]

    @property
    def shown(self) -> str:
        """Whether the interval tells the value from what chance gives."""
        return "above" if self.low > self.null else "below" if self.high < self.null else "not shown to differ from"


def state(study: str, headlines: list[Headline], results: pd.DataFrame) -> pd.DataFrame:
    """One row per value of each sentence, from tidy results; columns as in COLUMNS, headline: number of its entry."""
    table = tidy.expand(results)
    rows = [
        {"study": study, "answers": headline.answers, "headline": number, "scale": headline.scale, **row}
        for number, headline in enumerate(headlines)
        for row in _sentences(headline, table)
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


def _sentences(headline: Headline, table: pd.DataFrame) -> Iterator[dict[str, Any]]:
    found = {name: _by_key(headline, selection, headline.where, table) for name, selection in headline.values.items()}
    given = _by_key(headline, headline.provided, {}, table) if headline.provided else None
    for keys in next(iter(found.values())):
        supposed = given is None or (keys in given and given[keys].low > given[keys].null)
        if supposed and all(keys in results for results in found.values()):
            values = {name: results[keys] for name, results in found.items()}
            sentence = headline.sentence.format(**dict(zip(headline.per, keys, strict=True)), **values)
            numbers = {name: {key: getattr(value, key) for key in NUMBERS} for name, value in values.items()}
            yield from ({"sentence": sentence, "value": name, **row} for name, row in numbers.items())


def _by_key(
    headline: Headline, wanted: Selection, where: Mapping[str, Wanted], table: pd.DataFrame
) -> Mapping[tuple, Result]:
    """The rows that a value may be, by the keys of `per`. Raises ValueError where one has two."""
    rows = select(table, wanted, where)
    keys = list(rows.reindex(columns=headline.per).itertuples(index=False, name=None))
    if len(set(keys)) < len(keys):
        raise ValueError(f"{headline.sentence}: two results for one {wanted.metric}; `per` or `where` forgets a key")
    numbers = rows[[*NUMBERS, "n"]].itertuples(index=False, name=None)
    settings = rows.to_dict("records")
    return {key: Result(*row, setting) for key, row, setting in zip(keys, numbers, settings, strict=True)}
