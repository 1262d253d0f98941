"""The section `audit`: requests of `./memaudit audit` for a user's table, and what only several keys can get wrong."""

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field

from memaudit.config.attacks_section import Attacks
from memaudit.config.field_types import Count, Fraction, Name, Positive, RowNoun, Section
from memaudit.config.name_checks import unknown
from memaudit.config.shared_keys import SharedKeys

MAIN = "main"


class Inference(Section):
    """Sizes of attribute inference and linkability, of the columns in `infer` and the threat `linkability`."""

    sets: Annotated[int, Field(ge=16)] = Field(32, description="shadow contexts, the first of the arm `main`")
    targets: Annotated[int, Field(ge=20)] = Field(128, description="members that are attacked, at most")


class Audit(Section):
    """An audit of one table (docs/audit.md); `./memaudit audit` writes this section, nobody else needs it."""

    dataset: Name = Field(description="table that is audited")
    facts: str = Field(description="file of what the intake knows of it: true names of columns, rows, sampling")
    threats: list[Literal["labels", "probabilities", "poison", "white-box", "linkability"]] = Field(
        min_length=1,
        description="what an adversary has: labels, probabilities, rows of the context, attention, halves of records",
    )
    infer: list[str] = Field([], description="columns whose values an adversary infers by the model's answers")
    inference: Inference = Inference()
    models: dict[Name, str] = Field(description="by arm of attacks/arms: the model as the user called it; `main` first")
    by: list[str] = Field([], description="columns whose categories are compared, beside the classes of the target")
    fpr: Fraction = Field(description="share of records outside that the accusing threshold accuses as well")
    base_rates: list[Fraction] = Field(
        min_length=1,
        description="shares of the candidates who are in the data, for the precision of an attack",
    )
    shown: Count = Field(description="most vulnerable records that the page lists")
    groups: Count = Field(description="categories of a column that are compared, the largest first")
    permutations: Annotated[int, Field(ge=19)] = Field(
        description="redraws of the membership matrix behind the null of a group"
    )
    epsilons: list[Positive] = Field([], description="of contexts with differential privacy; none: none are made")
    finetune: bool = Field(False, description="whether the model is fine-tuned on records and probed for memory")
    complete: bool = Field(description="mitigations, noisy copies and poison too, not the first numbers alone")
    smallest: bool = Field(True, description="whether the smallest detected leak is estimated, not in first numbers")
    show_values: bool = Field(False, description="whether the page shows names of classes and categories")
    context_rows: Count = Field(
        description="records of the context that will be deployed; the leakage is extrapolated to it"
    )
    owner: str = Field("", description="who reviews the audit; empty: a line to fill in by hand")
    review_by: str = Field("", description="date of the next review; empty: a line to fill in by hand")
    records: RowNoun = ""
    plan: dict[str, float | int | str] = Field(description="how the sizes were chosen, for the page's annex")


def audit_faults(audit: Audit | None, attacks: Attacks, shared: SharedKeys) -> Iterator[str]:
    """Faults of the section, each naming its key path and a remedy; none where there is no section."""
    if audit is None:
        return
    yield from unknown("audit/dataset", [audit.dataset], "datasets", shared)
    if audit.dataset not in attacks.datasets:
        yield f"audit/dataset: {audit.dataset} is none of attacks/datasets; name it there"
    if MAIN not in audit.models:
        yield f"audit/models: the arm `{MAIN}` is missing; it has the model that is audited"
    for arm in (arm for arm in audit.models if arm not in attacks.arms):
        yield f"audit/models/{arm}: there is no such arm in attacks/arms; add it"
    wanted = audit.infer or "linkability" in audit.threats
    if wanted and audit.inference.sets > attacks.sets:
        yield f"audit/inference/sets: {audit.inference.sets} shadow contexts requested, `main` has {attacks.sets}"
    if audit.fpr not in attacks.fpr:
        yield f"audit/fpr: {audit.fpr:g} is none of attacks/fpr; name it there"
