"""Singling out as a rate: how many members are isolated at a threshold whose accusations have a stated precision."""

from memaudit.auditing.summaries.protection_parts import Finding
from memaudit.auditing.summaries.summary import Summary
from memaudit.auditing.summaries.summary_parts import Value

PRECISION = 0.9  # an isolated record is a member with at least this probability


def isolated(summary: Summary) -> list[Finding]:
    """Share of members isolated with this precision at the largest base rate; [] of a summary without a ROC curve.

    The threshold is the least strict one whose precision reaches the level with the lower end of the ROC's band; none
    does: nobody is shown to be isolated so precisely.
    """
    if summary.curves is None:
        return []
    rate = max(map(float, summary.headline.precision))
    least = PRECISION / (1 - PRECISION) * (1 - rate) / rate  # ratio of TPR and FPR
    passing = [one for one in summary.curves.roc if one.low is not None and one.low >= least * one.fpr]
    measure = (
        f"Share of members isolated with a precision of {100 * PRECISION:.0f} % or more, if {100 * rate:g} of 100 "
        "candidates are members"
    )
    if not passing:
        found = Value(estimate=0.0)
        return [Finding(measure=measure, value=found, power="at no threshold is this precision shown")]
    one = max(passing, key=lambda point: point.fpr)
    found = Value(estimate=one.tpr, low=one.low, high=one.high)
    power = f"at a false positive rate of {100 * one.fpr:.2g} %, chosen by the lower end of the band of the ROC curve"
    return [Finding(measure=measure, value=found, power=power)]
