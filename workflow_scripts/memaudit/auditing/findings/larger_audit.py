"""Whether a larger audit of the same table could change a finding, and how to get one; for the advice of the page."""

from memaudit.auditing.running.stages import MOST_RECORDS, MOST_SETS
from memaudit.auditing.summaries.mitigation_parts import Mitigation
from memaudit.auditing.summaries.summary import Summary

QUICK = "an audit without the setting quick"
MINUTES = "more minutes"
# Verdicts on a mitigation that hold whatever its intervals are when they are narrower.
DECIDED = ("raises the", "costs more than", "many queries undo it")


def larger(summary: Summary) -> str:
    """How to get more contexts or records than this audit has; empty where it has the most, so that nothing does."""
    if summary.stage == "quick" and summary.whole_minutes is None:
        return QUICK
    table = summary.table
    distinct = table.taken - table.duplicates - table.disputed
    most = summary.shadow_sets >= MOST_SETS and table.records >= min(distinct, MOST_RECORDS)
    return "" if summary.stage == "full" and most else MINUTES


def again(summary: Summary) -> str:
    """How to repeat an audit of which chance may have made the finding, after "audit again with"."""
    seed = "another seed"
    return {QUICK: f"{seed} and without the setting quick", MINUTES: f"{seed} and more minutes"}.get(
        larger(summary), seed
    )


def sentence(summary: Summary, effect: str) -> str:
    """ "More minutes narrow the intervals.": what a larger audit does, with a space before it; empty without one.

    effect: with a verb in the plural, such as "narrow the intervals".
    """
    how, (verb, *rest) = larger(summary), effect.split(" ")
    if not how:
        return ""
    return f" {how[0].upper()}{how[1:]} {' '.join([verb if how == MINUTES else f'{verb}s', *rest])}."


def undecided(summary: Summary) -> bool:
    """Whether a leak that this audit most likely detects may be there although it was not detected.

    It may where the interval of the AUC holds the smallest AUC that is detected with probability .8, or that is not
    known. Answers that never vary hide no leak of this kind from any number of contexts.
    """
    found, high = summary.strength, summary.headline.auc.high
    if found.units is None and found.estimated:
        return False
    return found.smallest_auc is None or high is None or high >= found.smallest_auc


def may_be_advised(one: Mitigation) -> bool:
    """Whether narrower intervals could make a mitigation advised that is not: no reason against it is decided."""
    return bool(one.verdict) and not one.advised and not any(words in one.verdict for words in DECIDED)
