"""Recommendations of an audit by stated rules: a condition on the summary, and a sentence that follows from it."""

from collections.abc import Callable
from typing import NamedTuple

from memaudit.auditing import audit_strength
from memaudit.auditing.summary import METHODS, Advice, Mitigation, PrivateContext, Summary, Tuned

STABLE = 0.5  # expected share of the list that as many other shadow contexts would name again, to act on it
CHEAP = -0.02  # largest acceptable change of balanced accuracy by a mitigation


def cheap_privacy(summary: Summary) -> list[PrivateContext]:
    """Private contexts without a detected leak that cost at most 2 points of balanced accuracy, the strictest first.

    The attacked contexts are of the kind that `snakemake release` makes.
    """
    safe = [one for one in summary.private if one.epsilon is not None and one.auc and not one.auc.detected]
    cheap = [one for one in safe if (cost := one.balanced_accuracy_difference) and cost.estimate >= CHEAP]
    return sorted(cheap, key=lambda one: one.epsilon)


def remembered(summary: Summary) -> list[Tuned]:
    """Epochs with detected memorization of a fine-tuned model; none if its negative control is detected, too.

    Detected is what the page's table says: the test of contexts without information. The AUC in the context of the
    fine-tuning has no test.
    """
    if any(one.placebo and one.auc.detected for one in summary.tuned):
        return []
    return [one for one in summary.tuned if not one.placebo and one.auc.detected]


def hinted(summary: Summary) -> list[Tuned]:
    """Epochs whose interval lies above 0.5 with the context of the fine-tuning alone, and not for the control."""
    above = [one for one in summary.tuned if one.auc_in_context.low is not None and one.auc_in_context.low > 0.5]
    return [] if any(one.placebo for one in above) else [one for one in above if not one.auc.detected]


class Rule(NamedTuple):
    """A recommendation; holds: whether it applies to a summary; sentence: its text."""

    name: str
    holds: Callable[[Summary], bool]
    sentence: Callable[[Summary], str]


def advise(summary: Summary) -> list[Advice]:
    """The recommendations whose rules hold, in the order of the rules."""
    return [Advice(rule=rule.name, text=rule.sentence(summary)) for rule in RULES if rule.holds(summary)]


def leaks(summary: Summary) -> bool:
    """Whether a permitted attack is detected and the negative control is not: the headline, or one of many queries."""
    targets = [one for one in summary.adversaries if one.model == "main" and one.records == "targets"]
    return not broken(summary) and any(one.auc.detected for one in (summary.headline(), *targets))


def broken(summary: Summary) -> bool:
    """Whether the negative control or a check by planted models has failed."""
    return bool(audit_strength.faults(summary))


def _control(summary: Summary) -> bool:
    """Whether the negative control, the attack on records that are in no context, is detected."""
    return audit_strength.CONTROL in audit_strength.faults(summary)


def helps(summary: Summary) -> list[Mitigation]:
    """Mitigations that lower the AUC of every attack beyond chance at a cost of at most 2 points of balanced accuracy.

    Each is given by the attack whose AUC it lowers least.
    """
    by_name: dict[str, list[Mitigation]] = {}
    for one in summary.mitigations:
        if one.auc_difference:
            by_name.setdefault(one.name, []).append(one)
    least = [max(attacks, key=lambda one: one.auc_difference.estimate) for attacks in by_name.values()]
    return [one for one in least if all(map(_lower, by_name[one.name]))]


def _lower(one: Mitigation) -> bool:
    cost = one.balanced_accuracy_difference
    high = one.auc_difference.high
    return high is not None and high < 0 and (cost is None or cost.estimate >= CHEAP)


def best(summary: Summary) -> Mitigation:
    """The mitigation that lowers the leakage most."""
    return min(helps(summary), key=lambda one: one.auc_difference.estimate)


def stands_out(summary: Summary) -> list:
    """Groups with a leak that is larger than that of the other records, both corrected for the number of groups."""
    return [one for one in summary.groups if one.q_value <= 0.05 and one.excess.detected]


def _stable(summary: Summary) -> bool:
    """Whether two halves name more of the same records than by chance, and all contexts enough to act on the list."""
    halves, whole = (summary.stability.get(name) for name in ("overlap_listed", "overlap_listed extrapolated"))
    return bool(halves and halves.detected and whole and (whole.estimate or 0.0) >= STABLE)


def _group(summary: Summary) -> str:
    worst = stands_out(summary)[0]
    # A name may hold control characters of a terminal.
    column = f"“{worst.column}”" if worst.column.isprintable() else ascii(worst.column)
    called = "" if worst.name else " (--show-values shows its name)"
    return (
        f"Group {worst.name or worst.number} of column {column}{called} leaks more than the others (AUC higher by "
        f"{worst.excess.estimate:.2f}, corrected for the choice among all groups). Show this page to those who "
        "represent these people before you use the table."
    )


RULES = [
    Rule(
        "the negative control is detected",
        _control,
        lambda summary: (
            "Do not use the numbers of this audit: the attack also detects the negative control, records that are in "
            "no context. Run it again with another --seed and more --minutes. If the negative control is detected "
            "again, members and non-members differ for reasons other than membership."
        ),
    ),
    Rule(
        "a check by planted models has failed",
        lambda summary: broken(summary) and not _control(summary),
        lambda summary: (
            f"Do not use the numbers of this audit: {audit_strength.invalid(summary)}. Run it again with another "
            "--seed and more --minutes. If the check fails again, the attack does not work on answers of this model."
        ),
    ),
    Rule(
        "no leak is detected",
        lambda summary: not leaks(summary) and not broken(summary),
        lambda summary: (
            "These attacks detected no leak. This is no guarantee: stronger attacks, smaller contexts and other models "
            f"may leak. {audit_strength.smallest_auc(summary)} More --minutes narrow the intervals."
        ),
    ),
    Rule(
        "a leak is detected",
        leaks,
        lambda summary: (
            "The model leaks who is in its context. Treat its answers as personal data: limit who may query it, and "
            "log the number of queries."
        ),
    ),
    Rule(
        "a leak is detected, and a mitigation lowers it at little cost",
        lambda summary: leaks(summary) and bool(helps(summary)),
        lambda summary: (
            f"Of the mitigations tested, “{best(summary).name}” lowers the leak most (AUC "
            f"{best(summary).auc_difference.estimate:+.2f}) and costs at most 2 points of balanced accuracy."
        ),
    ),
    Rule(
        "a leak is detected, and no mitigation lowers it at little cost",
        lambda summary: leaks(summary) and summary.stage == "full" and not helps(summary),
        lambda summary: (
            "No mitigation that was tested lowers the leak significantly at little cost. Consider a differentially "
            "private context (docs/release.md), or fewer people in the table."
        ),
    ),
    Rule(
        "a leak is detected, and the list of most vulnerable records is stable",
        lambda summary: leaks(summary) and _stable(summary),
        lambda summary: (
            "Two halves of the shadow contexts name the same records more often than by chance, and other contexts "
            f"would name about {summary.stability['overlap_listed extrapolated'].estimate:.0%} of this list again, so "
            "you can act on it: ask these people for consent, or leave them out. Then audit again: other records may "
            "become vulnerable."
        ),
    ),
    Rule(
        "a leak is detected, and the list of most vulnerable records is not stable",
        lambda summary: leaks(summary) and not _stable(summary),
        lambda summary: (
            "Do not act on single records of the list: other shadow contexts would name others. More --minutes make "
            "the list more stable."
        ),
    ),
    Rule(
        "a private context costs little",
        lambda summary: bool(cheap_privacy(summary)) and not broken(summary),
        lambda summary: (
            f"A context with differential privacy ({METHODS[cheap_privacy(summary)[0].method]}; epsilon "
            f"{cheap_privacy(summary)[0].epsilon:g}) costs at most 2 points of balanced accuracy here: "
            "`snakemake release` makes one (docs/release.md)."
        ),
    ),
    Rule(
        "private contexts were tested, and cost more",
        lambda summary: bool(summary.private) and not cheap_privacy(summary),
        lambda summary: (
            "No private context that was attacked costs at most 2 points of balanced accuracy without a detected leak. "
            "A larger epsilon costs less accuracy but protects less; with a larger table the same epsilon costs less."
        ),
    ),
    Rule(
        "the fine-tuned model memorizes records",
        lambda summary: bool(remembered(summary)) and not broken(summary),
        lambda summary: (
            f"Fine-tuning memorizes records (detected from epoch {remembered(summary)[0].epoch} on). Treat the weights "
            "as personal data, and stop earlier or train with differential privacy."
        ),
    ),
    Rule(
        "fine-tuned, and no memorization is detected",
        lambda summary: bool(summary.tuned) and not remembered(summary),
        lambda summary: (
            "No memorization of single records was detected after fine-tuning: contexts without information show no "
            "difference that is distinguishable from chance. Longer training or a higher learning rate may memorize "
            "some."
        ),
    ),
    Rule(
        "fine-tuned, and the interval lies above 0.5 with the context of the fine-tuning alone",
        lambda summary: not remembered(summary) and bool(hinted(summary)) and not broken(summary),
        lambda summary: (
            f"With the context of the fine-tuning the AUC is above 0.5 (epoch {hinted(summary)[0].epoch}: "
            f"{hinted(summary)[0].auc_in_context.estimate:.2f}), without information it is not distinguishable from "
            "chance. This column has no test of its own: repeat the fine-tuning with more --minutes and another --seed "
            "before you share the weights together with that context."
        ),
    ),
    Rule(
        "a group leaks more than the others",
        lambda summary: bool(stands_out(summary)) and not broken(summary),
        _group,
    ),
]
