"""Parts of a summary about what lowers a leak: mitigations that were tested, and private contexts."""

from pydantic import Field

from memaudit.auditing.summaries.mitigation_names import called
from memaudit.auditing.summaries.summary_parts import Part, Value

# Names of private contexts on the page, by condition; the last two are references.
METHODS = {
    "class_moments": "class-moments, which asks no teacher",
    "dp_tabicl": "DP-TabICL, noisy prototypes",
    "non_private": "the records themselves",
    "majority": "always the most frequent class",
}


class Mitigation(Part):
    """Leakage by the strongest score and utility with a mitigation, and their differences to those without it."""

    name: str
    attack: str = Field(
        description="strongest: all scores of the answers that it leaves; strongest labels: many queries; white-box: "
        "scores that read attention"
    )
    score: str | None = Field(description="chosen by AUC for most contexts")
    auc: Value | None
    auc_difference: Value | None
    tpr: Value | None = Field(description="at the strict false positive rate")
    tpr_difference: Value | None
    balanced_accuracy: Value | None
    balanced_accuracy_difference: Value | None
    r2: Value | None = None
    r2_difference: Value | None = None
    reason: str = Field("", description="why it could not be tested")
    advised: bool = Field(False, description="it lowers the leak at little cost, corrected for the best of several")
    verdict: str = Field("", description="what is known of it")
    p_value: float | None = Field(None, description="that it does not lower the leak at little cost; Holm's correction")
    auc_low: float | None = Field(None, description="change of AUC, interval for the best of all that were tested")
    auc_high: float | None = None
    auc_falls: bool = Field(False, description="whether the interval of the change of AUC lies below 0 as printed")

    @property
    def called(self) -> str:
        """What it is, in words."""
        return called(self.name)

    @property
    def cost(self) -> Value | None:
        """Change of balanced accuracy, or of a regressor's R2, to that without the mitigation."""
        return self.balanced_accuracy_difference or self.r2_difference

    @property
    def measure(self) -> str:
        """What the cost is measured by."""
        return "R²" if self.r2_difference else "balanced accuracy"


class PrivateContext(Part):
    """A context released with differential privacy: its accuracy, and the AUC of the attack."""

    method: str
    epsilon: float | None = Field(description="of the release; null: the records themselves, without privacy")
    balanced_accuracy: Value
    balanced_accuracy_difference: Value | None = Field(description="to the records themselves")
    auc: Value | None = Field(description="of LiRA on the members; null: not attacked")
