"""What the results of an audit of files of predictions permit to say, in words."""

from memaudit.auditing.predictions import prediction_summary
from memaudit.auditing.predictions.prediction_summary import Control, Number, PredictionSummary
from memaudit.common.command_name import program

CONTROLS = {
    "blind": "Blind attack: features and target alone",
    "stand-in": "Stand-in model, fitted on other members",
    "references": "Reference models",
}
SHORT = {"blind": "the blind attack", "stand-in": "the stand-in model", "references": "the reference models"}
LABELS = "correctness"  # the score that a label permits
_ADVICE = {
    prediction_summary.INVALID: "Do not use these numbers. Check that both files hold predictions of the same model, "
    "and that the members are its members; then audit again.",
    prediction_summary.NOTHING: "These numbers ask for no action. They rule out no leak: an adversary who can query "
    "the model again, or see inside it, is stronger.",
    prediction_summary.UNCLEAR: "First find out whether the files differ: take as non-members records that were left "
    "out at random before the training, or add predictions of other models with --reference; then audit again.",
    prediction_summary.BEYOND: "Treat the model's probabilities {as_secret}: limit who may "
    "query it{labels}. What a mitigation costs was not measured here; where the model can be "
    "refitted, {program} audit TABLE measures it.",
}


def advice(summary: PredictionSummary) -> str:
    """What to do, by the verdict."""
    words = {"program": program(), "as_secret": summary.nouns().as_secret, "labels": _labels_alone(summary)}
    return _ADVICE[summary.verdict].format(**words)


def _labels_alone(summary: PredictionSummary) -> str:
    """What is known of a model that publishes labels alone, by whether its answers are right."""
    auc = next(one.auc for one in summary.scores if one.name == LABELS)
    if auc.detected:
        return (
            f"; labels alone leak, too: whether an answer is right has an AUC of {auc.estimate:.2f} "
            f"[{auc.low:.2f}, {auc.high:.2f}], chance {auc.null:.2f}"
        )
    return ", or publish labels alone: by whether answers are right no difference was detected"


def of_hundred(value: Number) -> str:
    """ "71 [65, 77]", or "[65, 100]" where there is an interval alone."""
    if value.low is None or value.high is None:
        return "-"
    ends = f"[{100 * value.low:.0f}, {100 * value.high:.0f}]"
    return ends if value.estimate is None else f"{100 * value.estimate:.0f} {ends}"


def sentences(summary: PredictionSummary) -> list[str]:
    """The verdict in words; where no difference was detected, the smallest one that would have been, too."""
    nothing = summary.verdict == prediction_summary.NOTHING
    return [*_verdict(summary), *([smallest_auc(summary)] if nothing else [])]


def _verdict(summary: PredictionSummary) -> list[str]:
    if summary.verdict == prediction_summary.INVALID:
        return [f"This audit is invalid: {invalid(summary)}. Do not use its numbers."]
    if summary.verdict == prediction_summary.NOTHING:
        return ["No difference between members and non-members was detected in the predictions."]
    auc = f"A member ranks above a non-member in {of_hundred(summary.auc)} of 100 comparisons, by chance in 50."
    if summary.verdict == prediction_summary.UNCLEAR:
        first = "The predictions tell members from non-members, but this audit cannot tell memory from shift."
        return [first, auc, _why_unclear(summary)]
    first = (
        "The predictions tell members from non-members better than controls that cannot see memory: a sign of memory, "
        "and no proof."
    )
    found = [one for one in summary.controls if one.auc.detected]
    also = (
        f"The files differ in other ways, too: {_named(found)} also detected a difference, so that a part of the "
        "AUC may be shift."
    )
    return [first, auc, *([also] if found else [])]


def _why_unclear(summary: PredictionSummary) -> str:
    if not prediction_summary.is_controlled(summary):
        return "The files have no features to compare, and there are no reference models: any shift looks like memory."
    equal = [one for one in summary.controls if (one.excess.low or 0) <= 0]
    return (
        f"The attack does not exceed {_named(equal)} beyond the statistical error, and that cannot see memory: the "
        "two files may just hold different records."
    )


def _named(controls: list[Control]) -> str:
    return " and ".join(SHORT[one.name] for one in controls)


def invalid(summary: PredictionSummary) -> str:
    """Why no number may be used; empty for a valid audit."""
    if summary.verdict != prediction_summary.INVALID:
        return ""
    found = summary.planted
    if 2 * found.splits_detected > found.splits:
        number = f"{found.splits_detected} of {found.splits}"
        return f"the attack detected a difference in {number} random splits of the non-members"
    return "the attack did not detect a planted model that looks its members up"


def _sizes(summary: PredictionSummary) -> str:
    return " and ".join(
        f"{count} {what}" for count, what in zip(summary.files.units, ("members", "non-members"), strict=True)
    )


def smallest_auc(summary: PredictionSummary) -> str:
    """The smallest AUC that this audit detects."""
    if summary.smallest_auc is None:
        return f"With {_sizes(summary)} no AUC would have been detected with probability 0.8."
    return (
        f"With {_sizes(summary)} this audit detects an AUC of {summary.smallest_auc:.3f} with probability 0.8; a "
        "smaller one is more likely to be missed."
    )


def smallest_tpr(summary: PredictionSummary) -> str:
    """The smallest share of members accused that this audit tells from that of the non-members."""
    least = summary.accusations and summary.accusations.smallest_tpr
    if least is None:
        return f"With {_sizes(summary)} no share of members accused would have been detected with probability 0.8."
    return (
        f"With {_sizes(summary)} this audit detects with probability 0.8 that {100 * least:.1f} of 100 members are "
        "accused; a smaller share is more likely to be missed."
    )
