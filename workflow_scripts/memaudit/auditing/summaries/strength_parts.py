"""Format of the planted checks in an audit's summary: models that an attack must detect, and must not."""

from pydantic import Field

from memaudit.auditing.summaries.summary_parts import Part, Value

VISIBLE = 0.5  # share of the answers about members that a lookup must change to be found


class Planted(Part):
    """Whether an attack finds planted models."""

    lookup: Value = Field(description="AUC on a model that looks its records up; detected: it is found")
    innocents: int = Field(description="models without a leak that were tried: memberships drawn again")
    innocents_found: int = Field(description="of these, models in which a leak was detected")
    innocent_failed: bool = Field(description="whether most of five such models were found")


class AttackControl(Planted):
    """Whether planted models are found by an attack of many queries, or on attention.

    No innocents are planted for attention, whose negative controls are records in no context.
    """

    attack: str = Field(description="its name in the registry, or white-box for the strongest score of attention")


class Strength(Planted):
    """Whether planted models are found by the attack of the headline, and the smallest leak that is."""

    lookup_changed: float = Field(description="share of the answers about members that a lookup changes")
    estimated: bool = Field(True, description="whether the smallest leak was estimated; false in first numbers")
    units: int | None = Field(description="records (persons) with planted effects; null: none, or answers never vary")
    smallest_auc: float | None = Field(description="least AUC that is detected with probability .8; null: none is")
    auc_effect: float | None = Field(
        description="the planted shift that has it, in standard deviations of a record's confidence over contexts"
    )
    smallest_tpr: float | None = Field(
        description="least TPR at the strict false positive rate that is detected with probability .8; null: none is"
    )
    tpr_effect: float | None = Field(description="the planted shift that has it")
