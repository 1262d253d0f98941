"""Verdicts on the papers' claims, from the comparisons that each claim rests on."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np
import pandas as pd
from scipy.stats import binom

from memaudit.claims.claim_comparisons import absent, comparisons, printed_comparisons
from memaudit.claims.claim_predicates import Claim, Number
from memaudit.claims.interval_outcomes import Comparison, size_text
from memaudit.claims.untestable_claims import conditions_text, lacking, missing
from memaudit.claims.verdict_gates import STUDENT, condition_limit, gate_text, without_gates
from memaudit.claims.verdict_stability import UNSEEDED, Limits, limits, stability_text
from memaudit.common import tidy

REPRODUCED = "reproduced"
DIRECTION = "direction only"
NOT_REPRODUCED = "not reproduced"
NOT_TESTABLE = "not testable at this scale"
IDENTITY = "identity"
SHOWN = 3
BEYOND, LUCK = 0.025, 0.05  # of an interval on the side that a claim names; probability that as many hold by chance
OUTCOMES = {
    "opposite": "{} show the opposite",
    "inconclusive": "{} cannot tell (intervals too wide)",
    "no interval": "{} have no interval",
}
COLUMNS = ["id", "paper", "place", "claim", "paper_value", "ours", "verdict", "reason"]


def verdicts(claims: list[Claim], results: pd.DataFrame) -> pd.DataFrame:
    """One row per claim, from tidy results: id, paper, place, claim, paper_value, ours, verdict, reason.

    "reproduced": the relation holds, and the results of each number that the claim tests are within its tolerance;
    "direction only": the relation holds, but a number has no result within its tolerance, or the interval cannot tell;
    "not reproduced": so many comparisons show the opposite that the claim's share of them cannot hold;
    "not testable at this scale": no rows, none large enough, none for a part of what the sentence is about, attacks on
    students that are constant, or intervals that cannot tell, with the size that would;
    "identity": it holds by construction, and no more than the tolerated share of comparisons shows the opposite.
    """
    table = tidy.expand(results)
    return pd.DataFrame([_verdict(claim, table) for claim in claims], columns=COLUMNS)


@dataclass(frozen=True)
class Tally:
    """Outcomes of comparisons, of which at least `share` must hold; units: what more would be needed of.

    Comparisons without an interval are undecided: a minority that has one cannot speak for all.
    """

    judged: Sequence[Comparison]
    share: float
    units: str

    def count(self, outcome: str) -> int:
        """The number of comparisons with this outcome."""
        return sum(one.outcome == outcome for one in self.judged)

    @property
    def needed(self) -> int:
        """The least number of comparisons that must hold: the share, and more than intervals of 95 % would by chance.

        Where nothing holds one in 40 does, so that one of many is found where one is enough (a sentence with "can").
        """
        number = len(self.judged)
        by_luck = 1 + int(binom.isf(LUCK, number, BEYOND))
        return max(ceil(self.share * number - 1e-9), min(by_luck, number))

    @property
    def again(self) -> Limits:
        """Upper limits of the probabilities of the outcomes in another run, with other noise."""
        return limits([one.again for one in self.judged], self.needed)

    @property
    def verdict(self) -> str:
        """Reproduced, not reproduced or not testable, for the relation alone."""
        if self.count("holds") >= self.needed:
            return REPRODUCED
        tolerated = len(self.judged) - self.needed
        return NOT_REPRODUCED if self.count("opposite") > tolerated else NOT_TESTABLE

    @property
    def reason(self) -> str:
        """Counts of the outcomes; for an undecided relation also the size that would decide it."""
        text = f"holds in {self.count('holds')} of {len(self.judged)} comparisons"
        text += "".join(f", {form.format(self.count(one))}" for one, form in OUTCOMES.items() if self.count(one))
        return text + (f"; {self.size}" if self.verdict == NOT_TESTABLE else "")

    @property
    def size(self) -> str:
        """About how many times as much data would decide, if estimates stayed: (width / needed width)^2."""
        missing = {True: self.needed - self.count("holds"), False: len(self.judged) - self.needed + 1}
        missing[False] -= self.count("opposite")
        factors = [
            sorted(one.factor for one in self.judged if one.outcome == "inconclusive" and one.supports == side)
            for side in (True, False)
        ]
        factor = min(
            (side[number - 1] for side, number in zip(factors, missing.values(), strict=True) if len(side) >= number),
            default=np.inf,
        )
        return size_text(factor, self.units)


@dataclass(frozen=True)
class Judgement:
    """A verdict with its reason, and the tallies of the claim's relation and of its printed numbers.

    change: upper limit of the probability that the comparisons of another run, with other noise, give another verdict.
    """

    verdict: str
    reason: str
    tally: Tally
    numbers: Sequence[Tally]
    change: float


def _verdict(claim: Claim, table: pd.DataFrame) -> dict[str, str]:
    found = _judged(claim, table)
    reason = found.reason + (_stability(claim, table, found) if claim.study in UNSEEDED else "")
    value = "" if claim.value is None else str(claim.value)
    ours = _ours(found)
    texts = (claim.id, claim.paper, claim.place, claim.text, value, ours, found.verdict, reason)
    return dict(zip(COLUMNS, texts, strict=True))


def _judged(claim: Claim, table: pd.DataFrame) -> Judgement:
    tally = _tally(claim, comparisons(claim, table))
    numbers = [_tally(claim, printed_comparisons(claim, number, table)) for number in claim.numbers]
    if reason := lacking(claim, table) or ("" if tally.judged else missing(claim, table)):
        return Judgement(NOT_TESTABLE, reason, tally, numbers, change=0.0)
    verdict, reason = tally.verdict, tally.reason
    if claim.identity and verdict != NOT_REPRODUCED:
        verdict, reason = IDENTITY, f"holds by construction; {reason}"
    elif verdict == REPRODUCED and (without := absent(claim, table)):
        reason = f"{reason}; no results with {conditions_text(without)}, which it is about, too"
        return Judgement(NOT_TESTABLE, reason, tally, numbers, change=tally.again.opposite)
    elif verdict == REPRODUCED and claim.numbers:
        verdict, reason = _with_numbers(claim, tally, numbers)
    if verdict == REPRODUCED and (smaller := len(tally.judged) - sum(one.reaches for one in tally.judged)):
        verdict, reason = DIRECTION, f"{reason}; {smaller} are smaller than the {claim.effect:g} that the paper prints"
    return Judgement(verdict, reason, tally, numbers, change_limit(verdict, tally, numbers))


def change_limit(verdict: str, tally: Tally, numbers: Sequence[Tally] = ()) -> float:
    """Upper limit of the probability that the comparisons of another run, with other noise, change a verdict."""
    again, printed = tally.again, [number.again for number in numbers]
    changes = {
        REPRODUCED: again.fails + sum(one.fails for one in printed),
        DIRECTION: again.fails + min((one.holds for one in printed), default=0.0),
        NOT_REPRODUCED: again.not_opposite,
        IDENTITY: again.opposite,
        NOT_TESTABLE: again.holds + again.opposite,
    }
    return min(changes[verdict], 1.0)


def _stability(claim: Claim, table: pd.DataFrame, found: Judgement) -> str:
    """The sentence on another run: a gate that decides the verdict, or the largest limit with and without gates."""
    free = {name: _judged(*parts) for name, *parts in without_gates(claim, table)}
    if deciding := [name for name, one in free.items() if one.verdict != found.verdict]:
        return gate_text(deciding)
    # Two students that give one answer each do not differ at all, in this run.
    if STUDENT in free and any(one.outcome == "inconclusive" and one.margin == 0 for one in found.tally.judged):
        return gate_text([STUDENT])
    change = max(one.change for one in (found, *free.values()))
    return stability_text(change + (0.0 if found.verdict == NOT_TESTABLE else condition_limit(claim, table)))


def _tally(claim: Claim, found: list[Comparison]) -> Tally:
    if all(one.outcome == "no interval" for one in found):
        return Tally([], claim.share, claim.resampled)
    return Tally(
        sorted(found, key=lambda one: (one.outcome == "no interval", one.margin)), claim.share, claim.resampled
    )


def _with_numbers(claim: Claim, tally: Tally, numbers: Sequence[Tally]) -> tuple[str, str]:
    """Verdict and reason of a claim whose relation holds: each printed number must agree."""
    agreements = [_agreement(*pair) for pair in zip(claim.numbers, numbers, strict=True)]
    agree = all(one.judged and one.verdict == REPRODUCED for one in numbers)
    return REPRODUCED if agree else DIRECTION, "; ".join([tally.reason, *agreements])


def _agreement(number: Number, tally: Tally) -> str:
    """Whether the results that a number is printed for agree with it."""
    printed = f"{number.value:g} (within {number.margin:.3g})"
    if not tally.judged and number.tables:
        return f"no mean over {number.tables} tables to compare with the paper's, {printed}"
    if not tally.judged:
        return f"no result with an interval to compare with {printed}"
    if tally.verdict == REPRODUCED:
        return f"agrees with {printed}"
    if tally.verdict == NOT_REPRODUCED:
        return f"does not agree with {printed}"
    return f"whether it agrees with {printed} is open: {tally.size}"


def _ours(found: Judgement) -> str:
    """The comparisons that decide, the narrowest first: those with printed numbers where these do, else the others."""
    first = {NOT_REPRODUCED: "opposite", REPRODUCED: "holds", DIRECTION: "holds"}.get(found.verdict)
    lists = [sorted(found.tally.judged, key=lambda one: first is not None and one.outcome != first)]
    printed = [number.judged for number in found.numbers]
    lists = printed + lists if found.verdict in (REPRODUCED, DIRECTION) else lists + printed
    shown = [f"{one.setting}: {one.numbers}".removeprefix(": ") for judged in lists for one in judged[:SHOWN]]
    more = sum(max(len(judged) - SHOWN, 0) for judged in lists)
    return "; ".join(shown) + (f"; and {more} clearer" if more else "")
