"""summary.json: what an audit found, in a shape that programs can rely on. `docs/audit.schema.json` is its JSON schema.

python -m memaudit.auditing.summary    write the schema
"""

import json
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from memaudit.workflow.project_paths import PROJECT

SCHEMA = PROJECT / "docs" / "audit.schema.json"


class Part(BaseModel):
    """No unknown keys."""

    model_config = ConfigDict(extra="forbid")


class Value(Part):
    """An estimate with its 95 % interval, and what chance gives; null where there is none."""

    estimate: float | None
    low: float | None = None
    high: float | None = None
    null: float | None = None
    detected: bool | None = Field(None, description="p <= 0.05 of the permutation null, and the interval above it")


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
    records: Literal["members", "main alike", "targets", "placebo"]
    cells: int
    queries: float
    auc: Value
    tpr: dict[str, Value] = Field(description="by false positive rate")
    precision: dict[str, Value] = Field(description="by base rate: share of the accused who are in the data")


class Utility(Part):
    """Accuracy of a model on records that no context has."""

    model: str
    accuracy: Value
    balanced_accuracy: Value


class Group(Part):
    """Records of one class, or of one category of a column; its name only where values were asked for."""

    column: str = Field(description="as the table calls it")
    number: int
    name: str | None
    records: int
    auc: Value
    q_value: float
    excess: Value


class Mitigation(Part):
    """Leakage and utility behind a mitigation, and how they differ from those without."""

    name: str
    attack: str
    records: str
    auc: Value
    auc_difference: Value | None
    balanced_accuracy: Value | None
    balanced_accuracy_difference: Value | None


# Private contexts by their arm, for readers; the last two are there to compare with.
METHODS = {
    "class_moments": "TabPATE, moments of each class",
    "dp_tabicl": "DP-TabICL, noisy prototypes",
    "non_private": "the records themselves",
    "majority": "always the most frequent class",
}


class PrivateContext(Part):
    """A context released with differential privacy: what it is worth, and what the attack finds of its records."""

    method: str
    epsilon: float | None = Field(description="of the release; null: the records themselves, without privacy")
    balanced_accuracy: Value
    balanced_accuracy_difference: Value | None = Field(description="to the records themselves")
    auc: Value | None = Field(description="of LiRA on the members; null: not attacked")


class Tuned(Part):
    """A model that was fine-tuned on records, probed for them with contexts without information and with its own."""

    epoch: int
    placebo: bool = Field(description="fine-tuned on other records than those that count as members")
    auc: Value = Field(description="of contexts without information; detected: max-T over epochs, 5 splits")
    auc_in_context: Value = Field(description="of the context of the fine-tuning")


class Exposed(Part):
    """One of the most exposed records, by the row of the table (the header not counted)."""

    row: int
    id: str
    exposure: Value
    beliefs: dict[str, float] = Field(
        description="by base rate: what an adversary believes of it when it is in the data"
    )
    shows: bool = Field(description="membership shows at a false discovery rate of 5 %")


class Advice(Part):
    """A recommendation and the rule that gave it."""

    rule: str
    text: str


class Summary(Part):
    """An audit of one table."""

    version: Literal[1] = 1
    stage: Literal["quick", "full"]
    table: Table
    shadow_sets: int
    context: int = Field(description="records of a context")
    fpr: float = Field(description="false positive rate of the accusing threshold")
    models: dict[str, str]
    adversaries: list[Adversary]
    utilities: list[Utility]
    groups: list[Group]
    mitigations: list[Mitigation]
    private: list[PrivateContext]
    tuned: list[Tuned]
    stability: dict[str, Value]
    showing: int = Field(description="records whose membership shows at a false discovery rate of 5 %")
    rated: int = Field(description="records that were rated")
    exposed: list[Exposed]
    advice: list[Advice]

    def main(self, attack: str = "lira") -> Adversary:
        """The attack on all members of the first model."""
        return next(
            one for one in self.adversaries if (one.model, one.records, one.attack) == ("main", "members", attack)
        )

    def placebo(self) -> Adversary:
        """The attack on records that are in no context."""
        return next(one for one in self.adversaries if one.records == "placebo")


def schema() -> str:
    """The JSON schema as text."""
    return json.dumps(Summary.model_json_schema(), indent=1, sort_keys=True) + "\n"


if __name__ == "__main__":
    SCHEMA.write_text(schema(), encoding="utf-8")
