"""Format of attribute inference and linking in an audit's summary."""

from pydantic import Field

from memaudit.auditing.summaries.summary_parts import Part, Value


class Inferring(Part):
    """What one adversary infers, or links; accuracies are shares of right answers."""

    adversary: str = Field(description="calibrated, likelihood (both know the target) or without target")
    members: Value = Field(
        description="accuracy on records in the context; null: the most frequent answer, of halves a guess"
    )
    nonmembers: Value = Field(description="on the same records, by contexts without them")
    without_model: Value = Field(description="of an adversary who knows as much and never queries the model")
    gain: Value = Field(description="accuracy on non-members less that without the model: no leak of membership")
    excess: Value = Field(description="accuracy on members less that on non-members; null: of redrawn memberships")
    probability: Value = Field(description="the same of the mean posterior probability of the right answer")
    lookup_found: bool = Field(
        description="whether a planted model that looks its records up is detected, in either measure"
    )

    @property
    def detected(self) -> bool:
        """Whether the answers reveal more of members, in either measure; never where the planted model is missed."""
        return self.lookup_found and bool(self.excess.detected or self.probability.detected)

    def shown_by(self) -> str:
        """The measures in which the answers reveal more of members; empty where none does."""
        by = {"right answers": self.excess, "mean posterior of the right answer": self.probability}
        return " and ".join(name for name, value in by.items() if value.detected)


class InferredQuestion(Part):
    """A column whose values are inferred, or (column null) the half that belongs to a record."""

    column: str | None = Field(description="as the table calls it; null: halves of records")
    answers: int = Field(description="values, bins of numbers, or halves among which the adversary chooses")
    targets: int
    adversaries: list[Inferring]
    lookup: Value = Field(
        description="excess of a planted model that looks its records up, by the calibrated adversary"
    )

    def most(self) -> Inferring:
        """The adversary with the largest excess of those that are detected, or that are not withdrawn, or of all."""
        return max(self.adversaries, key=lambda one: (one.detected, one.lookup_found, one.excess.estimate))


class Inference(Part):
    """Attribute inference and linking by the answers."""

    questions: list[InferredQuestion]
    contexts: int
    innocents: int = Field(description="memberships drawn again")
    innocents_found: int = Field(description="of these, those in which an excess was detected")
    innocent_failed: bool

    def failed(self) -> bool:
        """Whether a control shows that the numbers cannot be used."""
        return self.innocent_failed
