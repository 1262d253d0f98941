"""Findings of attribute inference and linking for the criteria of data protection."""

from memaudit.auditing.summaries.inference_parts import InferredQuestion
from memaudit.auditing.summaries.protection_parts import Finding
from memaudit.auditing.summaries.summary import Summary

KNOWS = {
    "calibrated": "knows the target; answers calibrated by contexts without the record",
    "likelihood": "knows the target; answers alone",
    "without target": "does not know the target",
}
POWER = "corrected for all questions and adversaries (max-T)"
INFERRED = (
    "How much more often a hidden value is inferred where the record is in the context than where it is not: that "
    "excess is due to membership. What the model tells about everybody alike is the inference of non-members."
)
LINKED = (
    "How much more often two halves of a record are joined rightly where it is in the context than where it is not, "
    "among halves of other records."
)


def findings(summary: Summary, of_columns: bool) -> list[Finding]:
    """The strongest adversary's numbers of each column, or of halves of records; [] where none was run."""
    asked = summary.inference.questions if summary.inference else []
    found = [one for question in asked if (question.column is not None) == of_columns for one in _of(question)]
    if summary.inference and summary.inference.failed():
        return [_invalid(one, "redrawn memberships are detected as well") for one in found]
    return found


def _invalid(finding: Finding, reason: str) -> Finding:
    value = finding.value.model_copy(update={"detected": None})
    return finding.model_copy(update={"value": value, "power": f"invalid: {reason}"})


def _of(question: InferredQuestion) -> list[Finding]:
    best = question.most()
    what = "Halves joined rightly" if question.column is None else f"Column {question.column} inferred rightly"
    found = [
        Finding(measure=f"{what}: members (adversary: {KNOWS[best.adversary]})", value=best.members, power=""),
        Finding(measure=f"{what}: non-members", value=best.nonmembers, power=""),
        Finding(measure=f"{what}: without the model", value=best.without_model, power=""),
        Finding(measure=f"{what}: excess of members", value=best.excess, power=POWER),
        Finding(
            measure=f"{what}: excess of members, of the mean posterior of the right answer",
            value=best.probability,
            power=POWER,
        ),
    ]
    return found if best.lookup_found else [_invalid(one, "a planted lookup is not detected") for one in found]
