"""Format of the data-protection section in an audit's summary."""

from typing import Literal

from pydantic import Field

from memaudit.auditing.summaries.summary_parts import Part, Value


class Finding(Part):
    """A number of the audit that is evidence for a criterion."""

    measure: str
    value: Value
    power: str = Field("", description="the smallest leak that this number would have shown, or why none is stated")


class Criterion(Part):
    """A criterion of a document on data protection, and what this audit knows of it."""

    source: str
    place: str = Field(description="where it stands in the source")
    name: str
    quote: str = Field("", description="words of the source")
    findings: list[Finding]
    evidence: str = Field(description="what the findings show")
    no_evidence: str = Field(description="what they do not show")


class AttackStatus(Part):
    """Whether an attack was run, and why not."""

    attack: str
    status: Literal["run", "not permitted", "not possible", "left out"]
    reason: str


class Protection(Part):
    """An audit in the terms of data protection; it holds no legal verdict."""

    system: str
    access: str
    unit: str = Field(description="privacy unit")
    intruder: str
    invalid: str = Field(description="why no number is evidence; empty where the audit is valid")
    criteria: list[Criterion]
    attacks: list[AttackStatus]
    versions: dict[str, str]
    date: str
    reviewer: str | None = Field(description="of --owner; null: to fill in by hand")
    review_by: str | None = Field(description="date of the next review, of --review-by; null: to fill in by hand")
