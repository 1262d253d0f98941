"""Recommendations of an audit by stated rules: a condition on the summary, and a sentence that follows from it."""

from collections.abc import Callable
from typing import NamedTuple

from memaudit.attacks.attack_entry import WHITE_BOX
from memaudit.auditing.findings import audit_strength
from memaudit.auditing.findings.larger_audit import again, may_be_advised, sentence, undecided
from memaudit.auditing.summaries.mitigation_parts import Mitigation
from memaudit.auditing.summaries.summary import Advice, Summary, Tuned

STABLE = 0.5  # expected share of the list that as many other shadow contexts would name again, to act on it
NAMED = 3  # most mitigations that a sentence names
LAYER_DROPPED = "layer dropped"  # the mitigation that leaves the most vulnerable tenth of the records out


def in_short(summary: Summary) -> str:
    """What to do, and what it costs, for the first screen."""
    if broken(summary):
        return "Do not use these numbers; audit again with another seed."
    if not leaks(summary):
        if attention_leaks(summary):
            return "Keep the model's attention weights to yourself: they leak."
        exceeds = f"Audit again with {again(summary)}: accusations at the strict threshold exceed chance. "
        start = exceeds if summary.strict_leak() else ""
        return f"{start}Read what was not tested, and audit again after each change of table, model or access."
    start = "Limit who may query the model, and log the number of queries."
    if attention_leaks(summary):
        start += " Show nobody its attention weights."
    if best := next(iter(helps(summary)), None):
        cost = f"{best.measure} by {100 * best.cost.estimate + 0.0:+.1f} points"
        return f"{start} “{best.called}” changes the AUC by {best.auc_difference.estimate:+.2f} and {cost}."
    return f"{start} " + (
        "No mitigation is shown to help at little cost." if summary.stage == "full" else "No mitigation is tested yet."
    )


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
    """Whether a permitted attack is detected and its controls hold: the headline, or one of many queries."""
    targets = [one for one in summary.adversaries if one.model == "main" and one.records == "targets"]
    valid = [one for one in targets if not audit_strength.withdrawn(summary, one)]
    return not broken(summary) and any(one.auc.detected for one in (summary.headline, *valid))


def attention_leaks(summary: Summary) -> bool:
    """Whether the strongest score of attention is detected, and its controls hold."""
    strongest = summary.white_box()[:1]
    return any(one.auc.detected for one in strongest) and not audit_strength.attention_withdrawn(summary)


def broken(summary: Summary) -> bool:
    """Whether the negative control or a check by planted models has failed."""
    return bool(audit_strength.faults(summary))


def _control(summary: Summary) -> bool:
    """Whether the negative control, the attack on records that are in no context, is detected."""
    return audit_strength.CONTROL in audit_strength.faults(summary)


def helps(summary: Summary) -> list[Mitigation]:
    """Mitigations that lower the leak at little cost (`mitigation_verdicts`), the largest fall of the AUC first."""
    return sorted((one for one in summary.mitigations if one.advised), key=lambda one: one.auc_difference.estimate)


def unclear(summary: Summary) -> list[Mitigation]:
    """Mitigations that are not advised, with what is known of them in their verdict."""
    return [one for one in summary.mitigations if one.verdict and not one.advised]


def _not_advised(mitigations: list[Mitigation]) -> str:
    """Which mitigations are not advised and why; of many the number of those that a reason is of, not their names."""
    reasons: dict[str, list[str]] = {}
    for one in mitigations:
        for reason in one.verdict.split("; "):
            reasons.setdefault(reason, []).append(f"“{one.called}”")
    if len(mitigations) <= NAMED:
        return "Not advised: " + "; ".join(f"{', '.join(names)} ({reason})" for reason, names in reasons.items())
    counted = "; ".join(f"{reason} ({len(names)})" for reason, names in reasons.items())
    return f"Not advised are {len(mitigations)} mitigations, which a table of the page names: {counted}"


def stands_out(summary: Summary) -> list:
    """Groups with a leak that is larger than that of the other records, both corrected for the number of groups."""
    return [one for one in summary.groups if one.q_value <= 0.05 and one.excess.detected]


def _stable(summary: Summary) -> bool:
    """Whether two halves name more of the same records than by chance, and all contexts enough to act on the list."""
    halves, whole = (summary.stability.get(name) for name in ("overlap_listed", "overlap_listed extrapolated"))
    known = halves and halves.detected and whole and whole.low is not None
    return bool(known and whole.estimate >= STABLE)


def _act_on_list(summary: Summary) -> str:
    again = summary.stability["overlap_listed extrapolated"]
    listed = f"such a list of one row of each {summary.nouns().owner}" if summary.by_person() else "this list"
    return (
        "Two halves of the shadow contexts name the same records more often than by chance, and of "
        f"{listed} as many other contexts are expected to name {100 * again.estimate:.0f} % again, and at least "
        f"{100 * again.low:.0f} %, so you can act on it: ask {summary.nouns().consent} for consent, or leave them "
        f"out, which protects them{_others(summary)}. Then audit again: other records may become vulnerable."
    )


def _no_leak_yet(summary: Summary) -> str:
    """What a larger audit may decide where no leak is detected; empty where it would change nothing."""
    high = summary.headline.auc.high
    if not undecided(summary) or high is None:
        return ""
    return sentence(summary, f"narrow the interval, which reaches to an AUC of {high:.3f}")


def _not_shown(summary: Summary) -> str:
    """What a larger audit may show of mitigations; empty where reasons that are decided stand against each."""
    if not any(may_be_advised(one) for one in summary.mitigations):
        return ""
    return f" What is not shown may hold all the same.{sentence(summary, 'narrow the intervals')}"


def _others(summary: Summary) -> str:
    """What leaving the most vulnerable records out is shown to do to the leak of the others."""
    tested = [one for one in summary.mitigations if one.name == LAYER_DROPPED and one.auc_difference]
    if not tested:
        return " alone, as far as this audit has tested"
    return "" if any(one.auc_falls for one in tested) else " alone: the leak of the others is not shown to fall"


def _mitigation(summary: Summary) -> str:
    best, *others = helps(summary)
    number = sum(one.p_value is not None for one in summary.mitigations)
    noisy = [one for one in summary.mitigations if one.name == best.name and one.attack not in (best.attack, WHITE_BOX)]
    copies = "".join(f" {_of_noisy_copies(one)}" for one in noisy)
    return (
        f"Of {number} mitigations tested, {_shown(best, others)} AUC {best.auc_difference.estimate:+.2f} "
        f"[{best.auc_low:+.2f}, {best.auc_high:+.2f}], an interval for the best of {number}.{copies}"
    )


def _shown(best: Mitigation, others: list[Mitigation]) -> str:
    """Which mitigations are shown to help, and which of these lowers the AUC most; others may lower it more."""
    what = f"shown to lower the leak and to cost at most 2 points of {best.measure}"
    if not others:
        return f"only “{best.called}” is {what}:"
    return f"{_named([best, *others])} are {what}. Of these “{best.called}” lowers the leak most:"


def _of_keys(summary: Summary) -> str:
    """What k-anonymous keys change for who reads attention; empty where they were not tested."""
    tested = [one for one in summary.mitigations if one.attack == WHITE_BOX and one.auc_difference]
    return "".join(
        f"; “{one.called}” changes its AUC by {one.auc_difference.estimate:+.2f} [{one.auc_difference.low:+.2f}, "
        f"{one.auc_difference.high:+.2f}], to {one.auc.estimate:.2f}"
        for one in tested
        if one.auc_difference.low is not None
    )


def _named(mitigations: list[Mitigation]) -> str:
    return ", ".join(f"“{one.called}”" for one in mitigations)


def _of_noisy_copies(one: Mitigation) -> str:
    """What an adversary with many queries detects in spite of the mitigation; it does not undo it (`advised`)."""
    if one.auc_difference is None or one.auc_difference.high is None:
        return f"Many queries of labels could not be tested against it{f': {one.reason}' if one.reason else ''}."
    if one.auc_falls:
        return "With many queries of labels near the record, too, the strongest attack detects less than without it."
    return "Whether many queries of labels near the record detect as much in spite of it cannot be told."


def _group(summary: Summary) -> str:
    worst = stands_out(summary)[0]
    # A name may hold control characters of a terminal.
    column = f"“{worst.column}”" if worst.column.isprintable() else repr(worst.column)
    called = "" if worst.name else " (the setting show-values shows its name)"
    return (
        f"Group {worst.name or worst.number} of column {column}{called} leaks more than the others (AUC higher by "
        f"{worst.excess.estimate:.2f}, corrected for the choice among all groups). Show this page to "
        f"{summary.nouns().speakers} before you use the table."
    )


RULES = [
    Rule(
        "the negative control is detected",
        _control,
        lambda summary: (
            "Do not use the numbers of this audit: the attack also detects the negative control, records that are in "
            "no context and whose memberships were drawn at random. Chance alone does this in up to 1 of 20 audits: "
            "run it again with another seed. If the negative control is detected again, the attack itself is at "
            "fault, not the table: report it."
        ),
    ),
    Rule(
        "a check by planted models has failed",
        lambda summary: broken(summary) and not _control(summary),
        lambda summary: (
            f"Do not use the numbers of this audit: {audit_strength.invalid(summary)}. Run it again with "
            f"{again(summary)}. If the check fails again, the attack does not work on answers of this model."
        ),
    ),
    Rule(
        "no leak is detected",
        lambda summary: not leaks(summary) and not broken(summary),
        lambda summary: (
            f"{'The attacks on answers' if attention_leaks(summary) else 'These attacks'} detected no leak over all "
            "records. This is no guarantee: stronger attacks, contexts of another size "
            f"and other models may leak. {audit_strength.smallest_auc(summary)}{_no_leak_yet(summary)}"
        ),
    ),
    Rule(
        "no leak is detected over all records, but at the strict threshold",
        lambda summary: not leaks(summary) and not broken(summary) and summary.strict_leak(),
        lambda summary: (
            f"At a false positive rate of {100 * summary.fpr:g} % accusations are right more often than by chance, as "
            "where few records leak; one audit in twenty shows this without a leak. Audit again with "
            f"{again(summary)} before you rely on either."
        ),
    ),
    Rule(
        "no leak is detected, but the presence of single records shows",
        lambda summary: not leaks(summary) and not broken(summary) and summary.showing > 0,
        lambda summary: (
            f"The presence of {summary.showing} of {summary.rated} {summary.nouns().rows} shows in the answers all the "
            "same: no leak on average does not protect each record. They are in risk.parquet (column shows); audit "
            f"again with {again(summary)} before you act on single ones."
        ),
    ),
    Rule(
        "a leak is detected",
        leaks,
        lambda summary: (
            f"The model leaks {summary.nouns().which_are} in its {summary.nouns().context}. Treat its answers "
            f"{summary.nouns().as_secret}: limit who may query it, and log the number of queries."
        ),
    ),
    Rule(
        "a leak is detected, and a mitigation lowers it at little cost",
        lambda summary: leaks(summary) and bool(helps(summary)),
        _mitigation,
    ),
    Rule(
        "a leak is detected, and no mitigation is shown to lower it at little cost",
        lambda summary: leaks(summary) and summary.stage == "full" and not helps(summary),
        lambda summary: (
            "No mitigation is shown to lower the leak at little cost. Consider a differentially private release of the "
            f"table in its place (docs/release.md), or fewer {summary.nouns().people} in it."
        ),
    ),
    Rule(
        "a leak is detected, and some mitigations could not be tested, or are not shown to help",
        lambda summary: leaks(summary) and bool(unclear(summary)),
        lambda summary: f"{_not_advised(unclear(summary))}.{_not_shown(summary)}",
    ),
    Rule(
        "a leak is detected, and the list of most vulnerable records is stable",
        lambda summary: leaks(summary) and _stable(summary),
        _act_on_list,
    ),
    Rule(
        "a leak is detected, and the list of most vulnerable records is not stable",
        lambda summary: leaks(summary) and not _stable(summary),
        lambda summary: (
            "Do not act on single records of the list: other shadow contexts would name others."
            f"{sentence(summary, 'make the list more stable')}"
        ),
    ),
    Rule(
        "attention leaks",
        lambda summary: attention_leaks(summary) and not broken(summary),
        lambda summary: (
            f"The attention weights of the model leak {summary.nouns().which_are} in its context. Publish no attention "
            "maps, and let nobody inspect the process who may not see the records. Coarser answers do not change what "
            f"attention reveals{_of_keys(summary)}."
        ),
    ),
    Rule(
        "private contexts were tested",
        lambda summary: bool(summary.private) and not broken(summary),
        lambda summary: (
            "Do not choose epsilon by the accuracies of this page: they were measured on the private table, so the "
            "choice would reveal something about it that epsilon does not cover. Choose it from what may be revealed "
            f"about {summary.nouns().single}, or by the accuracy on a public table of like shape; a choice "
            "by this table is a query that the ledger must be charged for (docs/release.md)."
        ),
    ),
    Rule(
        "the fine-tuned model memorizes records",
        lambda summary: bool(remembered(summary)) and not broken(summary),
        lambda summary: (
            f"Fine-tuning memorizes records (detected from epoch {remembered(summary)[0].epoch} on). Treat the weights "
            f"{summary.nouns().as_secret}, and stop earlier or train with differential privacy."
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
            "chance. This column has no test of its own: repeat the fine-tuning with more minutes and another seed "
            "before you share the weights together with that context."
        ),
    ),
    Rule(
        "a group leaks more than the others",
        lambda summary: bool(stands_out(summary)) and not broken(summary),
        _group,
    ),
]
