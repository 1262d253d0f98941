"""Sentences on the strength of an audit: whether its numbers are valid, and which leak it would have detected."""

import math

from memaudit.attacks.attack_entry import WHITE_BOX
from memaudit.attacks.registry import REGISTRY
from memaudit.auditing.summaries.strength_parts import VISIBLE, AttackControl
from memaudit.auditing.summaries.summary import Adversary, Summary, Value

CONTROL, LOOKUP, INNOCENT = "control", "lookup", "innocent"
LATER = "The smallest leak that this audit detects is estimated for the whole page."
CONSTANT = "The model's answers do not vary between contexts: membership has changed none of them."


def faults(summary: Summary) -> list[str]:
    """The checks that an audit has failed; with any of them its numbers are not valid.

    Where a model gives most records the same answer without a lookup, a planted lookup cannot be detected there, and
    missing it is not counted as a failed check.
    """
    found = summary.strength
    missed = not found.lookup.detected and found.lookup_changed >= VISIBLE
    failed = {CONTROL: bool(summary.placebo().auc.detected), LOOKUP: missed, INNOCENT: found.innocent_failed}
    return [name for name, holds in failed.items() if holds]


def reads_labels(summary: Summary) -> bool:
    """Whether the adversary of the headline reads labels alone."""
    return summary.headline.threat.startswith("label")


def invalid(summary: Summary) -> str:
    """Why the numbers of an audit are not valid; empty where they are."""
    found = summary.strength
    reasons = {
        CONTROL: "the attack also detects the negative control, records that are in no context",
        LOOKUP: "the attack did not detect a planted model that looks its records up",
        INNOCENT: f"the attack detected a leak in {found.innocents_found} of {found.innocents} planted models without "
        "one",
    }
    return ", and ".join(reasons[name] for name in faults(summary))


def withdrawn(summary: Summary, one: Adversary) -> str:
    """Why the numbers of an attack of many queries, or on attention, cannot be used; empty where its controls hold."""
    if not (one.is_white_box() or one.records == "targets"):
        return ""
    name = WHITE_BOX if one.is_white_box() else one.attack
    failed = [_fault(control) for control in summary.controls if control.attack == name] or ["has no control"]
    if name == WHITE_BOX and any(other.records == "placebo" and other.auc.detected for other in summary.white_box()):
        failed.insert(0, "also detects its negative control, records that are in no context")
    return ", and ".join(filter(None, failed))


def _fault(control: AttackControl) -> str:
    """Which planted models an attack finds, or does not find, although it should not; empty for none."""
    missed = f"does not detect a planted model that looks its records up (AUC {control.lookup.estimate:.2f})"
    wrong = f"detects a leak in {control.innocents_found} of {control.innocents} planted models without one"
    failed = {missed: not control.lookup.detected, wrong: control.innocent_failed}
    return ", and ".join(reason for reason, holds in failed.items() if holds)


def attention_withdrawn(summary: Summary) -> bool:
    """Whether a control of the attack on attention has failed, so that its numbers cannot be used."""
    return any(withdrawn(summary, one) for one in summary.white_box()[:1])


def label(control: AttackControl) -> str:
    """What the attack of a control is called on the page."""
    return "attack on attention" if control.attack == WHITE_BOX else REGISTRY[control.attack].label


def controls(summary: Summary) -> list[str]:
    """The sentences on the controls of attacks of many queries: on those that hold, and on each that has failed."""
    tested = [one for one in summary.controls if one.attack != WHITE_BOX]
    failed = {label(one): _fault(one) for one in tested if _fault(one)}
    found = [f"Withdrawn: “{name}” {reason}; do not use its numbers." for name, reason in failed.items()]
    if len(tested) > len(failed):
        held = ", ".join(f"“{label(one)}”" for one in tested if not _fault(one))
        found.insert(0, f"Controls of {held}: a planted lookup is detected, and planted models without a leak are not.")
    return found


def white_box(summary: Summary) -> str:
    """The sentence on the adversary who sees attention: AUC, and the share of members identified."""
    best = summary.white_box()[0]
    if reason := withdrawn(summary, best):
        return f"The attack on attention {reason}: do not use its numbers."
    low, high = (f"{end:.2f}" for end in (best.auc.low, best.auc.high))
    found = "" if best.auc.detected else "; no leak is detected"
    tpr = best.tpr[f"{summary.fpr:g}"]
    shares = "{:.0f} [{:.0f}, {:.0f}]".format(*(100 * one for one in (tpr.estimate, tpr.low, tpr.high)))
    return (
        f"An adversary who also sees the model's attention ranks a member above a non-member with an AUC of "
        f"{best.auc.estimate:.2f} [{low}, {high}] (chance {best.auc.null:.2f}), and identifies "
        f"{shares} of 100 members at a false positive rate of {100 * summary.fpr:g} %{found}."
    )


def checks(summary: Summary) -> list[str]:
    """The sentences on the planted models."""
    found = summary.strength
    lookup = f"(AUC {found.lookup.estimate:.2f})"
    if found.lookup.detected:
        first = f"A planted model that looks its records up is detected {lookup}, as it should be."
    elif LOOKUP in faults(summary):
        first = f"A planted model that looks its records up is not detected {lookup}, although it should be."
    else:
        read = "labels" if reads_labels(summary) else "probabilities"
        first = (
            f"Even a planted model that looks its records up is not detected {lookup}: the model gives the same {read} "
            f"in {100 * (1 - found.lookup_changed):.0f} of 100 answers about members without a lookup. So this audit "
            "can hardly detect a leak."
        )
    return [
        first,
        f"Of {found.innocents} planted models without a leak {found.innocents_found} "
        f"{'was' if found.innocents_found == 1 else 'were'} detected. Up to five are planted, until most are detected, "
        "which makes the audit invalid, or most are not.",
    ]


def smallest_auc(summary: Summary) -> str:
    """The sentence on the smallest AUC that is detected with probability .8."""
    found = summary.strength
    if found.units is None:
        return CONSTANT if found.estimated else LATER
    who = _sizes(summary)
    if found.smallest_auc is None:
        return f"With {who} no planted effect of any size would have been detected by the AUC with probability 0.8."
    return (
        f"With {who} this audit detects a leak with an AUC of {found.smallest_auc:.3f} with a probability of at "
        "least about 0.8; a smaller one is more likely to be missed."
    )


def smallest_tpr(summary: Summary) -> str:
    """The sentence on the smallest share of members identified at the strict threshold that is detected."""
    found = summary.strength
    if found.units is None:
        return CONSTANT if found.estimated else LATER
    who, strict = _sizes(summary), f"{100 * summary.fpr:g} %"
    if found.smallest_tpr is None:
        return (
            f"With {who} the audit says nothing about a false positive rate of {strict}: no planted effect is detected."
        )
    return (
        f"With {who} accusations at a false positive rate of {strict} are distinguishable from chance with a "
        f"probability of at least about 0.8 if they identify {100 * found.smallest_tpr:.1f} of 100 members; by chance "
        f"they identify {100 * summary.fpr:g}."
    )


def in_one_context(summary: Summary) -> str:
    """The sentence on the precision in one deployed context at the largest base rate; empty where it is not known."""
    at = [one for one in summary.deployments if one.fpr == summary.fpr and one.one_context.low is not None]
    if not at:
        return ""
    one = max(at, key=lambda found: found.base_rate)
    low, high = (f"{100 * end:.0f}" for end in (one.one_context.low, one.one_context.high))
    return (
        f"In one context {low} to {high} of 100 accusations are right, with probability {one.level:.2f}, if "
        f"{100 * one.base_rate:g} of 100 candidates are in the data."
    )


def growth(summary: Summary) -> str:
    """The sentence on the leakage with many contexts."""
    found = summary.growth
    if found.auc is None:
        return f"How much an adversary with many shadow contexts would find cannot be extrapolated: {found.reason}."
    return (
        f"Extrapolated to many shadow contexts this score has an AUC of {found.auc.estimate:.2f} [{found.auc.low:.2f}, "
        f"{found.auc.high:.2f}]; with the {found.contexts} contexts here it has {found.measured[-1].auc.estimate:.2f}."
    )


def deployed(summary: Summary) -> str:
    """The sentence on the context that will be deployed."""
    found, largest = summary.deployed, summary.deployed.measured[-1].number
    start = f"The context that will be deployed is taken to hold {found.to} rows"
    if found.to == largest:
        return f"{start}, as many as the contexts of this audit."
    largest = f"about {largest}" if summary.by_person() else largest
    if found.auc is None:
        stage = " (the first numbers measure one size)" if summary.stage == "quick" else ""
        return f"{start}; the headline holds for {largest}. Its leakage cannot be extrapolated: {found.reason}{stage}."
    return (
        f"{start}; the headline holds for {largest}. Extrapolated from contexts of "
        f"{', '.join(str(one.number) for one in found.measured)} records, the AUC there is {found.auc.estimate:.2f} "
        f"[{found.auc.low:.2f}, {found.auc.high:.2f}], by one score ({REGISTRY[found.score].label}) and "
        f"{found.contexts} shadow contexts."
    )


def by_size(summary: Summary) -> str:
    """The sentence on how the AUC changes with the records of a context, from the smallest to the largest measured."""
    small, large = summary.deployed.measured[0], summary.deployed.measured[-1]
    if small.number == large.number:
        return "How the leak changes with the size of the context was not measured."
    aucs = (
        f"AUC {small.auc.estimate:.3f} with {small.number} records, {large.auc.estimate:.3f} with {large.number}, of "
        f"{REGISTRY[summary.deployed.score].label}"
    )
    change = large.auc.estimate - small.auc.estimate
    if abs(change) <= _half_of_change(small.auc, large.auc):
        return f"Whether a larger context leaks more or less about each record is not shown: {aucs}."
    return f"Larger contexts leaked {'more' if change > 0 else 'less'} about each record in this audit: {aucs}."


def _half_of_change(first: Value, last: Value) -> float:
    """Half of the 95 % interval of a change, on its side of 0: the halves of both intervals, added in quadrature.

    The sizes have contexts of their own, so their errors are independent. Infinite where an interval is missing.
    """
    higher, lower = (first, last) if first.estimate > last.estimate else (last, first)
    if higher.low is None or lower.high is None:
        return math.inf
    return math.hypot(higher.estimate - higher.low, lower.high - lower.estimate)


def duplicates(summary: Summary) -> str:
    """The sentence on rows that a deployed context holds more than once; empty without such rows."""
    count = summary.table.duplicates
    if not count:
        return ""
    were = (
        f"{count} row that is equal to another one was" if count == 1 else f"{count} rows that are equal to others were"
    )
    return (
        f"{were} left out of the contexts, so that each record stands in a context once. A deployed context holds "
        f"{'it' if count == 1 else 'them'}: the presence of a record that stands in it several times can show more "
        "than is measured here."
    )


def alike(summary: Summary) -> str:
    """The sentence on rows that differ in the target alone and are attacked together; empty without such rows."""
    if not summary.nouns().alike:
        return ""
    return (
        f"{summary.table.alike} of the {summary.table.taken - summary.table.duplicates} different rows have the same "
        "features as another one and a different target: rows with the same features are in a context together and "
        "count as one record; in an audit with a group such rows are left out"
    )


def _sizes(summary: Summary) -> str:
    """The contexts and records in which effects were planted; with more records smaller leaks are detected."""
    units = summary.strength.units
    of_all = f"{units}" if summary.by_person() or units >= summary.rated else f"{units} of {summary.rated}"
    return f"{summary.shadow_sets} contexts and {of_all} {summary.nouns().accused}"
