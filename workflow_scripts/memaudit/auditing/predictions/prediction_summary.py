"""summary.json of an audit of files of predictions, and what may be said. `docs/predictions.schema.json` is its schema.

python -m memaudit.auditing.predictions.prediction_summary    write the schema
"""

import json
from typing import Literal, NamedTuple

from pydantic import Field

from memaudit.auditing.reading.row_nouns import RowNouns
from memaudit.auditing.summaries.protection_parts import Protection
from memaudit.auditing.summaries.score_curves import Curves
from memaudit.auditing.summaries.strength_parts import VISIBLE
from memaudit.auditing.summaries.summary_parts import Part, Value
from memaudit.common.project_paths import PROJECT

SCHEMA = PROJECT / "docs" / "predictions.schema.json"
INVALID, NOTHING, UNCLEAR, BEYOND = "invalid", "not detected", "memory or shift", "beyond the controls"


class Number(Part):
    """An estimate with its 95 % interval; null: not defined."""

    estimate: float | None
    low: float | None
    high: float | None


class Area(Number):
    """An AUC, the mean over both halves of the records."""

    null: float = Field(description="mean of the AUCs under permuted memberships")
    p_value: float = Field(description="of the permutation test; of the headline and of a lookup by max-T")
    detected: bool = Field(description="p <= 0.05, and the interval above 0.5")


class Score(Part):
    """One score of the predictions by itself; its p-value does not count the others."""

    name: str
    auc: Area


class Control(Part):
    """An attack that cannot see memory."""

    name: Literal["blind", "stand-in", "references"] = Field(
        description="blind: a classifier of features and target; stand-in: the loss of a model fitted on other members"
        "; references: the mean loss of the given reference models"
    )
    auc: Area
    excess: Number = Field(description="AUC of the strongest score less that of this control")


class Accusations(Part):
    """Positive predictions at a threshold that was set on the other half of the records."""

    accused_members: int
    accused_non_members: int
    tpr: Number
    fpr: Number
    p_value: float = Field(description="Fisher's exact test of both counts")
    detected: bool
    smallest_tpr: float | None = Field(description="least TPR that is detected with probability .8; null: none is")
    precision: dict[str, Number] = Field(description="by base rate; null estimate: no non-member is accused")


class Planted(Part):
    """Whether a planted lookup is found, and random halves of the non-members are not."""

    lookup: Area
    lookup_changed: float = Field(description="share of the predictions about members that a lookup changes")
    splits: int
    splits_detected: int


class FileCounts(Part):
    """What was read."""

    rows: list[int] = Field(description="of members and of non-members")
    duplicates: int = Field(description="rows equal to an earlier one of their file: they count once")
    units: list[int] = Field(description="records, or persons, that are attacked: members, non-members")
    by_person: bool
    classes: int
    features: int
    references: int
    sha256: list[str]


class Headline(NamedTuple):
    """Main results, of the form that they have in an audit of a table; tpr: by FPR, precision: by base rate."""

    auc: Value
    tpr: dict[str, Value]
    precision: dict[str, Value]


class PredictionSummary(Part):
    """The results of an audit of files of predictions."""

    kind: Literal["predictions"] = "predictions"
    verdict: Literal["invalid", "not detected", "memory or shift", "beyond the controls"]
    files: FileCounts
    fpr: float
    auc: Area = Field(description="of the strongest score, chosen for each half on the other half")
    chosen: list[str] = Field(description="the score of each half")
    scores: list[Score]
    controls: list[Control]
    accusations: Accusations | None = Field(description="null: too few non-members for a threshold")
    smallest_auc: float | None = Field(description="least AUC that is detected with probability .8; null: none is")
    planted: Planted
    curves: Curves = Field(description="of the strongest score: its ROC, and scores of members and non-members")
    protection: Protection | None = Field(None, description="the audit in the terms of data protection")
    rows_are: str = Field("", description="plural noun of --records; empty: records of people")

    def nouns(self) -> RowNouns:
        """Words for what is attacked."""
        return RowNouns(self.rows_are, self.files.by_person)

    @property
    def headline(self) -> Headline:
        """The main results as values with their null and verdict."""
        found, auc = self.accusations, self.auc
        values = {f"{self.fpr:g}": found.tpr if found else Number(estimate=None, low=None, high=None)}
        detected = found.detected if found else None
        return Headline(
            _value(auc, auc.null, auc.detected),
            {fpr: _value(one, float(fpr), detected) for fpr, one in values.items()},
            {rate: _value(one, float(rate), detected) for rate, one in (found.precision if found else {}).items()},
        )


def judged(summary: PredictionSummary) -> PredictionSummary:
    """The summary with the verdict that its numbers permit.

    A detected difference is called beyond the controls only if the interval of its excess over each of them is above 0,
    and if there are features or reference models: target alone is no control.
    """
    return summary.model_copy(update={"verdict": _verdict(summary)})


def _value(one: Number, null: float, detected: bool | None) -> Value:
    return Value(estimate=one.estimate, low=one.low, high=one.high, null=null, detected=detected)


def is_controlled(summary: PredictionSummary) -> bool:
    """Whether there is a control that could see a shift."""
    return summary.files.features > 0 or summary.files.references > 0


def _verdict(summary: PredictionSummary) -> str:
    planted = summary.planted
    missed = not planted.lookup.detected and planted.lookup_changed >= VISIBLE
    if missed or 2 * planted.splits_detected > planted.splits:
        return INVALID
    if not summary.auc.detected:
        return NOTHING
    beyond = is_controlled(summary) and all((one.excess.low or 0) > 0 for one in summary.controls)
    return BEYOND if beyond else UNCLEAR


def schema() -> str:
    """The JSON schema as text."""
    return json.dumps(PredictionSummary.model_json_schema(), indent=1, sort_keys=True) + "\n"


if __name__ == "__main__":
    SCHEMA.write_text(schema(), encoding="utf-8")
