"""Findings of an adversary who sees the model's attention, for the criteria of data protection."""

from memaudit.auditing.findings import audit_strength
from memaudit.auditing.summaries.protection_parts import Finding
from memaudit.auditing.summaries.summary import Adversary, Summary

POWER = "not estimated for attention"


def findings(summary: Summary) -> list[Finding]:
    """AUC and share of members accused by the strongest score of attention.

    [] where none was run, or a control of attention has failed.
    """
    unit = summary.nouns().unit
    ranked = [
        Finding(measure=f"White-box adversary, who also sees attention: AUC, by {unit}", value=one.auc, power=POWER)
        for one in _strongest(summary)
    ]
    return [*ranked, *identified(summary)]


def identified(summary: Summary) -> list[Finding]:
    """Share of members accused at the strict false positive rate by the strongest score of attention; likewise."""
    share = f"share of members accused at a false positive rate of {100 * summary.fpr:g} %"
    return [
        Finding(
            measure=f"White-box adversary, who also sees attention: {share}",
            value=one.tpr[f"{summary.fpr:g}"],
            power=POWER,
        )
        for one in _strongest(summary)
    ]


def _strongest(summary: Summary) -> list[Adversary]:
    return [] if audit_strength.attention_withdrawn(summary) else summary.white_box()[:1]
