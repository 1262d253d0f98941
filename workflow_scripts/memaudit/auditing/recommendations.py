"""What to do, by stated rules: each a condition on the summary and a sentence, and the sentence is said if it holds."""

from collections.abc import Callable
from typing import NamedTuple

from memaudit.auditing.summary import METHODS, Advice, Mitigation, PrivateContext, Summary, Tuned

STABLE = 0.5  # rank correlation of two halves, above which the list of the exposed can be acted upon
CHEAP = -0.02  # balanced accuracy that a mitigation may cost


def cheap_privacy(summary: Summary) -> list[PrivateContext]:
    """Private contexts that were attacked in vain and cost at most 2 points of balanced accuracy, the strictest first.

    What is attacked is what `snakemake release` makes.
    """
    found = [one for one in summary.private if one.epsilon is not None and one.auc and not one.auc.detected]
    cheap = [one for one in found if (cost := one.balanced_accuracy_difference) and cost.estimate >= CHEAP]
    return sorted(cheap, key=lambda one: one.epsilon)


def remembered(summary: Summary) -> list[Tuned]:
    """Epochs at which a fine-tuned model was found to remember; none where its placebo was found, too."""
    if any(one.placebo and (one.auc.detected or _in_context(one)) for one in summary.tuned):
        return []
    return [one for one in summary.tuned if not one.placebo and (one.auc.detected or _in_context(one))]


def _in_context(one: Tuned) -> bool:
    return bool(one.auc_in_context and (one.auc_in_context.low or 0) > 0.5)


class Rule(NamedTuple):
    """holds: whether the sentence is said of a summary; sentence: what it says."""

    name: str
    holds: Callable[[Summary], bool]
    sentence: Callable[[Summary], str]


def advise(summary: Summary) -> list[Advice]:
    """The sentences of all rules that hold, in the order of the rules."""
    return [Advice(rule=rule.name, text=rule.sentence(summary)) for rule in RULES if rule.holds(summary)]


def leaks(summary: Summary) -> bool:
    """Whether any adversary of the first model was found, and the placebo was not."""
    found = [one for one in summary.adversaries if one.model == "main" and one.records in ("members", "targets")]
    return not broken(summary) and any(one.auc.detected for one in found)


def broken(summary: Summary) -> bool:
    """Whether the attack finds members among records that are in no context."""
    return bool(summary.placebo().auc.detected)


def helps(summary: Summary) -> list[Mitigation]:
    """Mitigations that lower the leakage to every attack on them, beyond chance, at a cost of at most 2 points.

    Each stands here with the attack that it lowers least.
    """
    found: dict[str, list[Mitigation]] = {}
    for one in summary.mitigations:
        if one.auc_difference:
            found.setdefault(one.name, []).append(one)
    least = [max(attacks, key=lambda one: one.auc_difference.estimate) for attacks in found.values()]
    return [one for one in least if all(map(_lower, found[one.name]))]


def _lower(one: Mitigation) -> bool:
    cost = one.balanced_accuracy_difference
    high = one.auc_difference.high
    return high is not None and high < 0 and (cost is None or cost.estimate >= CHEAP)


def best(summary: Summary) -> Mitigation:
    """The mitigation that takes most of the leakage away."""
    return min(helps(summary), key=lambda one: one.auc_difference.estimate)


def stands_out(summary: Summary) -> list:
    """Groups that leak, the number of groups corrected for, and more than the others."""
    return [one for one in summary.groups if one.q_value <= 0.05 and (one.excess.low or 0) > 0]


def _stable(summary: Summary) -> bool:
    """Whether halves agree on all records, and name the same at the top of the list more often than by chance."""
    agreement, top = summary.stability.get("spearman"), summary.stability.get("overlap_5%")
    same = top is None or top.low is None or top.low > (top.null or 0.0)
    return bool(agreement and agreement.estimate is not None and agreement.estimate >= STABLE and same)


def _group(summary: Summary) -> str:
    worst = stands_out(summary)[0]
    # A name may hold what a terminal would obey.
    shown = f"“{worst.column}”" if worst.column.isprintable() else ascii(worst.column)
    called = "" if worst.name else " (--show-values names it)"
    return (
        f"Group {worst.name or worst.number} of column {shown}{called} leaks more than the others (AUC higher by "
        f"{worst.excess.estimate:.2f}): whoever speaks for these people should see this page before the table is used."
    )


RULES = [
    Rule(
        "the placebo is detected",
        broken,
        lambda summary: (
            "Do not rely on this audit: the attack claims to find records that are in no context. Run it "
            "again with another --seed and more --minutes; if it stays so, the two sides differ by themselves."
        ),
    ),
    Rule(
        "no adversary is detected",
        lambda summary: not leaks(summary) and not broken(summary),
        lambda summary: (
            "These attacks found no leak beyond chance. That is no promise: stronger attacks, smaller "
            "contexts and other models may. More --minutes narrow the intervals."
        ),
    ),
    Rule(
        "some adversary is detected",
        leaks,
        lambda summary: (
            "The model gives away who is in its context. Treat its answers as personal data: limit who may "
            "ask it, and log how often."
        ),
    ),
    Rule(
        "leak, and a mitigation lowers it at little cost",
        lambda summary: leaks(summary) and bool(helps(summary)),
        lambda summary: (
            f"Of what was tried, “{best(summary).name}” lowers the leak most (AUC "
            f"{best(summary).auc_difference.estimate:+.2f}) and costs at most 2 points of balanced accuracy."
        ),
    ),
    Rule(
        "leak, and no mitigation lowers it at little cost",
        lambda summary: leaks(summary) and summary.stage == "full" and not helps(summary),
        lambda summary: (
            "Nothing that was tried without training lowers the leak beyond chance at little cost. Consider "
            "a differentially private context (docs/release.md), or fewer people in the table."
        ),
    ),
    Rule(
        "leak, and the list of exposed records is stable",
        lambda summary: leaks(summary) and _stable(summary),
        lambda summary: (
            "Another half of the shadow sets names much the same records: the list of the most exposed can "
            "be acted upon, by asking these people or leaving them out. Others may be exposed then: audit again."
        ),
    ),
    Rule(
        "leak, and the list of exposed records is not stable",
        lambda summary: leaks(summary) and not _stable(summary),
        lambda summary: (
            "Do not act on single records of the list yet: another half of the shadow sets would name "
            "others. More --minutes make it stabler."
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
        "private contexts were tried, and cost more",
        lambda summary: bool(summary.private) and not cheap_privacy(summary),
        lambda summary: (
            "No private context that was tried costs as little as 2 points of balanced accuracy: a larger epsilon "
            "promises less, a larger table costs less."
        ),
    ),
    Rule(
        "the fine-tuned model remembers",
        lambda summary: bool(remembered(summary)) and not broken(summary),
        lambda summary: (
            f"Fine-tuning leaves a memory of the records (from epoch {remembered(summary)[0].epoch} on): treat the "
            "weights as personal data, and stop earlier or train with differential privacy."
        ),
    ),
    Rule(
        "fine-tuned, and no memory found",
        lambda summary: bool(summary.tuned) and not remembered(summary),
        lambda summary: (
            "No memory of single records was told from chance after fine-tuning. Longer training, or a higher "
            "learning rate, may leave one."
        ),
    ),
    Rule(
        "a group leaks more than the others",
        lambda summary: bool(stands_out(summary)) and not broken(summary),
        _group,
    ),
]
