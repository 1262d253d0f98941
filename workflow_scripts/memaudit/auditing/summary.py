"""summary.json: the results of an audit in a stable format. `docs/audit.schema.json` is its JSON schema.

python -m memaudit.auditing.summary    write the schema
"""

import json
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from memaudit.common.project_paths import PROJECT

SCHEMA = PROJECT / "docs" / "audit.schema.json"


class Part(BaseModel):
    """A model without unknown keys."""

    model_config = ConfigDict(extra="forbid")


class Value(Part):
    """An estimate with its 95 % interval and its value under the null; a missing number is null."""

    estimate: float | None
    low: float | None = None
    high: float | None = None
    null: float | None = None
    detected: bool | None = Field(None, description="p <= 0.05 of the randomisation test, and the interval above it")


class Table(Part):
    """The table that was audited."""

    rows: int
    without_target: int
    records: int = Field(description="records in the audit, after duplicates and sampling")
    duplicates: int
    columns: int
    task: str
    sha256: str


class Adversary(Part):
    """One attack on one model."""

    model: str
    threat: str
    attack: str
    poison: int
    records: Literal["members", "main alike", "targets", "placebo", "companions"]
    cells: int
    queries: float
    auc: Value
    tpr: dict[str, Value] = Field(description="by false positive rate")
    precision: dict[str, Value] = Field(
        description="by base rate: share of the positive predictions that are right (PPV)"
    )


class Utility(Part):
    """Accuracy of a model on records that no context has."""

    model: str
    accuracy: Value
    balanced_accuracy: Value


class Group(Part):
    """Records of one class, or of one category of a column; the name is null unless values may be shown."""

    column: str = Field(description="as the table calls it")
    number: int
    name: str | None
    records: int
    auc: Value
    q_value: float
    excess: Value = Field(
        description="AUC against all records minus that of the others; detected: corrected for the choice among groups"
    )


class Mitigation(Part):
    """Leakage and utility with a mitigation, and their differences to those without it."""

    name: str
    attack: str
    records: str
    auc: Value
    auc_difference: Value | None
    balanced_accuracy: Value | None
    balanced_accuracy_difference: Value | None


# Names of private contexts on the page, by condition; the last two are references.
METHODS = {
    "class_moments": "TabPATE, moments of each class",
    "dp_tabicl": "DP-TabICL, noisy prototypes",
    "non_private": "the records themselves",
    "majority": "always the most frequent class",
}


class PrivateContext(Part):
    """A context released with differential privacy: its accuracy, and the AUC of the attack."""

    method: str
    epsilon: float | None = Field(description="of the release; null: the records themselves, without privacy")
    balanced_accuracy: Value
    balanced_accuracy_difference: Value | None = Field(description="to the records themselves")
    auc: Value | None = Field(description="of LiRA on the members; null: not attacked")


class Tuned(Part):
    """A model that was fine-tuned on records, probed with contexts without information and with its own."""

    epoch: int
    placebo: bool = Field(description="negative control: fine-tuned on records other than those that count as members")
    auc: Value = Field(description="of contexts without information; detected: max-T over epochs, 5 splits")
    auc_in_context: Value = Field(description="of the context of the fine-tuning")


class Exposed(Part):
    """One of the most vulnerable records, by the row of the table (the header not counted)."""

    row: int
    id: str
    exposure: Value = Field(description="vulnerability score: posterior effect size of the record's presence")
    beliefs: dict[str, float] = Field(
        description="by base rate: mean calibrated posterior membership probability when it is in the data"
    )
    shows: bool = Field(description="membership is detectable at a false discovery rate of 5 %")


class Advice(Part):
    """A recommendation and its rule."""

    rule: str
    text: str


class Summary(Part):
    """An audit of one table."""

    version: Literal[1] = 1
    stage: Literal["quick", "full"]
    table: Table
    shadow_sets: int
    context: int = Field(description="records of a context")
    fpr: float = Field(description="false positive rate of the decision threshold")
    models: dict[str, str]
    adversaries: list[Adversary]
    utilities: list[Utility]
    groups: list[Group]
    mitigations: list[Mitigation]
    private: list[PrivateContext]
    tuned: list[Tuned]
    calibration: dict[str, Value] = Field(
        description="mean distance of posteriors from the share of members: of LiRA's own ratios, and of those shown"
    )
    stability: dict[str, Value] = Field(
        description="agreement of halves of the shadow contexts; extrapolated: of as many other contexts as there are"
    )
    showing: int = Field(description="records whose membership is detectable at a false discovery rate of 5 %")
    rated: int = Field(description="records that were rated")
    exposed: list[Exposed]
    advice: list[Advice]

    def main(self, attack: str = "lira") -> Adversary:
        """Results of an attack on all members, on the main model."""
        return next(
            one for one in self.adversaries if (one.model, one.records, one.attack) == ("main", "members", attack)
        )

    def placebo(self) -> Adversary:
        """Results of the negative control: the attack on records that are in no context."""
        return next(one for one in self.adversaries if one.records == "placebo")

    def companions(self) -> list[Adversary]:
        """Results of the second negative control: members with the membership of another one."""
        return [one for one in self.adversaries if one.records == "companions"]


def schema() -> str:
    """The JSON schema as text."""
    return json.dumps(Summary.model_json_schema(), indent=1, sort_keys=True) + "\n"


if __name__ == "__main__":
    SCHEMA.write_text(schema(), encoding="utf-8")
