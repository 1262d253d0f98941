"""summary.json: the results of an audit in a stable format. `docs/audit.schema.json` is its JSON schema.

python -m memaudit.auditing.summaries.summary    write the schema
"""

import json
from typing import Literal

from pydantic import AliasChoices, Field

from memaudit.attacks.attack_entry import WHITE_BOX
from memaudit.auditing.reading.row_nouns import RowNouns
from memaudit.auditing.summaries.group_parts import Group, LeftOut, Subpopulation
from memaudit.auditing.summaries.inference_parts import Inference
from memaudit.auditing.summaries.mitigation_parts import Mitigation, PrivateContext
from memaudit.auditing.summaries.protection_parts import Protection
from memaudit.auditing.summaries.score_curves import Curves
from memaudit.auditing.summaries.strength_parts import AttackControl, Strength
from memaudit.auditing.summaries.summary_parts import Part, Value
from memaudit.common.project_paths import PROJECT

CONTROLS = ("placebo", "companions")
STRONGEST = "strongest"  # attack: the best score, chosen on other contexts
SCHEMA = PROJECT / "docs" / "audit.schema.json"


class Table(Part):
    """The table that was audited."""

    rows: int
    without_target: int
    taken: int = Field(description="rows with a target that were read, after sampling")
    duplicates: int = Field(description="of these, equal to another row: they count once")
    disputed: int = Field(
        description="of these, with the features of a row that has another target, and dropped (with persons)"
    )
    alike: int = Field(
        0,
        description="of these, with the features of a row that has another target, and kept (without persons): such "
        "rows count as one record",
    )
    records: int = Field(description="records that were queried, after duplicates and sampling")
    columns: int
    task: str = Field(description="how the target is read, in words")
    kind: Literal["classification", "regression"]
    sha256: str


class Adversary(Part):
    """One attack on one model."""

    model: str
    threat: str
    attack: str
    poison: int
    records: Literal["members", "persons", "main alike", "targets", "placebo", "companions"] = Field(
        description="what is attacked; persons: the scores of a person's records are summed"
    )
    cells: int
    queries: float
    auc: Value
    tpr: dict[str, Value] = Field(description="by false positive rate")
    precision: dict[str, Value] = Field(
        description="by base rate: share of the positive predictions that are right (PPV)"
    )
    chosen: dict[str, dict[str, float]] = Field(
        {},
        description="of `strongest`: by criterion (auc, tpr) the share of contexts for which each score was chosen, on "
        "other contexts",
    )

    def is_white_box(self) -> bool:
        """Whether the adversary sees the model's attention."""
        return self.threat.startswith(WHITE_BOX)


class Deployment(Part):
    """Precision of an accusation at one false positive rate and base rate: on average, and in one deployed context."""

    fpr: float
    base_rate: float
    mean: Value = Field(description="over contexts, with its confidence interval; null: the base rate")
    one_context: Value = Field(
        description="median over contexts, and the range that holds the precision in one more context"
    )
    level: float = Field(description="probability that this range holds; .95, or what so few contexts give")
    contexts: int = Field(description="contexts with an accusation; others have no precision")


class Measured(Part):
    """The AUC at one number of contexts, or at one number of records in a context."""

    number: int
    auc: Value


class Extrapolated(Part):
    """The AUC at several numbers of contexts, or sizes of a context, and extrapolated."""

    score: str = Field(description="the score, by its name in the registry")
    contexts: int = Field(description="shadow contexts of the measurement, of the largest one")
    measured: list[Measured]
    to: int | None = Field(description="records of the deployed context; null: many contexts")
    auc: Value | None = Field(description="null: it cannot be told, for the reason")
    reason: str


class Utility(Part):
    """Accuracies of a classifier, or errors of a regressor, on records that no context has; of the other kind null."""

    model: str
    accuracy: Value | None
    balanced_accuracy: Value | None
    r2: Value | None = None
    rmse: Value | None = Field(None, description="in the target's unit; null: of predicting the mean")

    def quality(self) -> Value:
        """Balanced accuracy, or R2."""
        return self.balanced_accuracy or self.r2


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
    # Audits of earlier versions, which are compared with later ones, have the second names.
    vulnerability: Value = Field(
        validation_alias=AliasChoices("vulnerability", "exposure"),
        description="vulnerability score: posterior effect size of the record's presence",
    )
    posteriors: dict[str, float] = Field(
        validation_alias=AliasChoices("posteriors", "beliefs"),
        description="by base rate: mean calibrated posterior membership probability when it is in the data",
    )
    shows: bool = Field(description="the interval of the vulnerability score excludes 0")


class Advice(Part):
    """A recommendation and its rule."""

    rule: str
    text: str


class Summary(Part):
    """An audit of one table."""

    version: Literal[1, 2] = Field(2, description="of these keys; 1 had other names of those of `exposed`")
    stage: Literal["quick", "full"]
    table: Table
    whole_minutes: int | None = Field(
        None, description="minutes that the whole audit was expected to need, where the budget was too short for it"
    )
    shadow_sets: int
    context: int = Field(description="records of a context, the mean over contexts")
    fpr: float = Field(description="false positive rate of the decision threshold")
    models: dict[str, str]
    adversaries: list[Adversary]
    deployments: list[Deployment] = Field(description="of the strongest score")
    uneven: Value = Field(
        description="share of the records (persons) whose own false positive rate is above twice the nominal one"
    )
    curves: Curves | None = Field(None, description="of the strongest score; null: of an earlier version")
    strength: Strength
    controls: list[AttackControl] = Field([], description="of single attacks; one that fails withdraws its numbers")
    growth: Extrapolated = Field(description="with the number of shadow contexts, to many")
    deployed: Extrapolated = Field(description="with the records of a context, to the one that will be deployed")
    utilities: list[Utility]
    groups: list[Group]
    small_groups: list[LeftOut] = Field([], description="groups that are left out")
    subpopulation: Subpopulation | None = Field(None, description="found by search; null: all candidates are too small")
    mitigations: list[Mitigation]
    private: list[PrivateContext]
    tuned: list[Tuned]
    inference: Inference | None = Field(None, description="of --infer and linkability; null: neither was requested")
    calibration: dict[str, Value] = Field(
        description="mean distance of posteriors from the share of members: of LiRA's own ratios, and of those shown"
    )
    stability: dict[str, Value] = Field(
        description="agreement of halves of the shadow contexts; extrapolated: of all of them with as many others"
    )
    showing: int = Field(description="rated records whose interval of the vulnerability score excludes 0")
    rated: int = Field(description="records that were rated")
    fitted: bool = Field(False, description="whether the audited model is fitted on its context, and does not read it")
    rows_are: str = Field("", description="plural noun of --records; empty: records of people")
    exposed: list[Exposed]
    advice: list[Advice]
    protection: Protection | None = Field(None, description="the findings in the terms of data protection")

    def predicts_numbers(self) -> bool:
        """Whether the audited models are regressors."""
        return self.table.kind == "regression"

    def measure(self) -> str:
        """By what the models' predictions are measured."""
        return "R²" if self.predicts_numbers() else "balanced accuracy"

    @property
    def headline(self) -> Adversary:
        """Results of the strongest score that the threats permit, by person where several rows are accused together."""
        return next(one for records in ("persons", "members") for one in self._strongest(records))

    def strict_leak(self) -> bool:
        """Whether the headline detects a leak at the strict false positive rate."""
        return bool(self.headline.tpr[f"{self.fpr:g}"].detected)

    def white_box_contexts(self) -> int:
        """Shadow contexts of which the attention was read, of as many targets as the headline has."""
        targets = self.headline.cells // self.shadow_sets
        return self.white_box()[0].cells // targets

    def rows(self) -> Adversary | None:
        """Results of the strongest score by row, where the headline is by person."""
        return next(iter(self._strongest("members")), None) if self.by_person() else None

    def by_person(self) -> bool:
        """Whether several rows are accused together: those of a person, or those that differ in the target alone."""
        return bool(self._strongest("persons"))

    def nouns(self) -> RowNouns:
        """What rows, and those that are accused, are called."""
        by_person = self.by_person()
        return RowNouns(self.rows_are, by_person, self.fitted, alike=by_person and self.table.alike > 0)

    def scores(self) -> list[Adversary]:
        """Every score of the same answers, on what the headline attacks, the largest AUC first."""
        records = self.headline.records
        found = [one for one in self._on_main(records) if one.attack != STRONGEST]
        return sorted(found, key=lambda one: -one.auc.estimate)

    def _strongest(self, records: str) -> list[Adversary]:
        return [one for one in self._on_main(records) if one.attack == STRONGEST]

    def _on_main(self, records: str) -> list[Adversary]:
        known = [one for one in self.adversaries if not one.is_white_box()]
        return [one for one in known if (one.model, one.records) == ("main", records)]

    def white_box(self) -> list[Adversary]:
        """Results of an adversary who sees attention: strongest score, others, controls; [] where none was run."""
        found = [one for one in self.adversaries if one.is_white_box()]
        return sorted(found, key=lambda one: (one.records in CONTROLS, one.attack != STRONGEST, -one.auc.estimate))

    def placebo(self) -> Adversary:
        """Results of the negative control: the attack on records that are in no context."""
        return self._on_main("placebo")[0]

    def companions(self) -> list[Adversary]:
        """Results of the second negative control: members with the membership of another one."""
        return self._on_main("companions")


def schema() -> str:
    """The JSON schema as text."""
    return json.dumps(Summary.model_json_schema(), indent=1, sort_keys=True) + "\n"


if __name__ == "__main__":
    SCHEMA.write_text(schema(), encoding="utf-8")
