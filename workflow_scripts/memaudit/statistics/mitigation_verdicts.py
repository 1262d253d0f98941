"""Verdict on each mitigation of an audit: whether it lowers the leak at little cost, or why that cannot be said.

A mitigation is advised if three statements hold together: the AUC falls, the TPR at the strict false positive rate
falls (where the headline detects a leak there), and balanced accuracy, or R2, falls by at most 2 points. The p-value of
the conjunction is the largest of the three (intersection-union test; Berger 1982), Holm's correction covers the choice
among all mitigations that were tested. For a single mitigation this says that all three 95 % intervals lie on the right
side. Size in simulations: docs/coverage.md.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from scipy.stats import norm

from memaudit.statistics.attack_performance import SIGNIFICANT

CHEAP = -0.02  # largest acceptable change of balanced accuracy, or of R2, by a mitigation
STRONGEST, QUERIES = "strongest", "strongest labels"  # attacks on a mitigation: one query, and many
# Decimals by which changes of AUC and TPR are printed: a verdict follows from the number that is read.
AUC_DIGITS, TPR_DIGITS = 2, 3
REFERENCES = ("none", "layer random")  # what others are compared with


class Difference(Protocol):
    """A change with its 95 % interval; None where it could not be estimated."""

    estimate: float | None
    low: float | None
    high: float | None


class Mitigation(Protocol):
    """Changes by a mitigation under one attack, the strongest score or another one; reason: why it was not tested."""

    name: str
    attack: str
    reason: str
    auc_difference: Difference | None
    tpr_difference: Difference | None
    cost: Difference | None  # change of `measure`
    measure: str


class Verdict(NamedTuple):
    """What is known of a mitigation.

    p_value: that it does not lower the leak at little cost, Holm's correction, None where it was not tested; verdict:
    in words, "" for references; auc_low, auc_high: interval of the change of AUC for the best of all that were tested;
    auc_falls: whether the interval of the change of AUC lies below 0 as printed, under any attack.
    """

    advised: bool = False
    verdict: str = ""
    p_value: float | None = None
    auc_low: float | None = None
    auc_high: float | None = None
    auc_falls: bool = False


def verdicts(mitigations: Sequence[Mitigation], strict_leak: bool) -> list[Verdict]:
    """The verdict on each mitigation, in their order; without words for references and for other attacks.

    strict_leak: whether the headline detects a leak at the strict false positive rate, which must fall then, too.
    """
    candidates = [one for one in mitigations if one.attack == STRONGEST and one.name not in REFERENCES]
    tested = holm({one.name: _p_value(one, strict_leak) for one in candidates if has_intervals(one)})
    queried = {one.name: one for one in mitigations if one.attack == QUERIES}
    found = []
    for one in mitigations:
        lower = one.auc_difference is not None and falls(one.auc_difference)
        if one not in candidates:
            found.append(Verdict(auc_falls=lower))
            continue
        p_value = tested.get(one.name)
        problems = _problems(one, strict_leak) + _undone(queried.get(one.name))
        if not problems and p_value > SIGNIFICANT:
            problems = [f"not beyond chance for the best of {len(tested)} mitigations"]
        ends = simultaneous(one.auc_difference, len(tested)) if one.name in tested else (None, None)
        words = "; ".join(problems) or "lowers the leak at little cost"
        found.append(Verdict(not problems, words, p_value, *ends, lower))
    return found


def holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """Holm's adjusted p-values, by name."""
    adjusted, least = {}, 0.0
    for rank, name in enumerate(sorted(p_values, key=p_values.__getitem__)):
        least = max(least, min(1.0, (len(p_values) - rank) * p_values[name]))
        adjusted[name] = least
    return adjusted


def has_intervals(one: Mitigation) -> bool:
    """Whether the changes of the leakage and of the accuracy have intervals."""
    changes = (one.auc_difference, one.tpr_difference, one.cost)
    return not one.reason and all(change is not None and change.low is not None for change in changes)


def rises(change: Difference, digits: int = AUC_DIGITS) -> bool:
    """Whether the interval of a change lies above 0 as printed; False without an interval."""
    return change.low is not None and round(change.low, digits) > 0


def falls(change: Difference, digits: int = AUC_DIGITS) -> bool:
    """Whether the interval of a change lies below 0 as printed; False without an interval."""
    return change.high is not None and round(change.high, digits) < 0


def simultaneous(change: Difference, number: int) -> tuple[float, float]:
    """Ends of a change's interval, wide enough for the best of `number` mitigations (Bonferroni)."""
    factor = norm.isf(SIGNIFICANT / 2 / number) / norm.isf(SIGNIFICANT / 2)
    below, above = change.estimate - change.low, change.high - change.estimate
    return change.estimate - factor * below, change.estimate + factor * above


def _p_value(one: Mitigation, strict_leak: bool) -> float:
    """Two-sided p-value that not all of the required changes hold."""
    changes = [(one.auc_difference, 0.0, True), (one.cost, CHEAP, False)]
    changes += [(one.tpr_difference, 0.0, True)] if strict_leak else []
    return max(_beyond(*change) for change in changes)


def _beyond(change: Difference, bound: float, below: bool) -> float:
    """Two-sided p-value that a quantity is not below (above) a bound, of the 95 % interval's half towards the bound."""
    distance = bound - change.estimate if below else change.estimate - bound
    half = change.high - change.estimate if below else change.estimate - change.low
    if distance <= 0:
        return 1.0
    return float(2 * norm.sf(norm.isf(SIGNIFICANT / 2) * distance / half)) if half > 0 else 0.0


def _problems(one: Mitigation, strict_leak: bool) -> list[str]:
    """Why a mitigation cannot be advised by its own intervals, [] if it can."""
    if not has_intervals(one):
        return [f"not tested: {one.reason or 'too few people or contexts for an interval'}"]
    found = []
    if rises(one.auc_difference):
        found.append("raises the AUC")
    elif not falls(one.auc_difference):
        found.append("the AUC is not shown to fall")
    if strict_leak and rises(one.tpr_difference, TPR_DIGITS):
        found.append("raises the share identified at the strict threshold")
    elif strict_leak and not falls(one.tpr_difference, TPR_DIGITS):
        found.append("the share identified at the strict threshold is not shown to fall")
    if one.cost.high < CHEAP:
        found.append(f"costs more than 2 points of {one.measure}")
    elif one.cost.low <= CHEAP:
        found.append(f"may cost more than 2 points of {one.measure}")
    return found


def _undone(queried: Mitigation | None) -> list[str]:
    """Whether an adversary with many queries detects more in spite of it than one query does without it."""
    change = queried.auc_difference if queried else None
    return ["many queries undo it"] if change and rises(change) else []
