"""Verdicts on the papers' claims, from the comparisons that each claim rests on."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np
import pandas as pd

from memaudit.common import tidy
from memaudit.statistics.claim_comparisons import (
    Comparison,
    by_chance,
    comparisons,
    printed_comparisons,
    setting_text,
    supposed,
)
from memaudit.statistics.claims import Claim
from memaudit.statistics.row_selection import select

REPRODUCED = "reproduced"
DIRECTION = "direction only"
NOT_REPRODUCED = "not reproduced"
NOT_TESTABLE = "not testable at this scale"
IDENTITY = "identity"
SHOWN = 3
MANY = 1000
OUTCOMES = {
    "opposite": "{} show the opposite",
    "inconclusive": "{} cannot tell (intervals too wide)",
    "no interval": "{} have no interval",
}
COLUMNS = ["id", "paper", "place", "claim", "paper_value", "ours", "verdict", "reason"]


def verdicts(claims: list[Claim], results: pd.DataFrame) -> pd.DataFrame:
    """One row per claim, from tidy results: id, paper, place, claim, paper_value, ours, verdict, reason.

    "reproduced": the relation holds, and the printed number, if the claim tests one, is within its tolerance;
    "direction only": the relation holds, but the number is not within its tolerance, or the interval cannot tell;
    "not reproduced": so many comparisons show the opposite that the claim's share of them cannot hold;
    "not testable at this scale": no rows, none large enough, or intervals that cannot tell, with the size that would;
    "identity": the relation holds, but by construction.
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
        """The least number of comparisons that must hold."""
        return ceil(self.share * len(self.judged) - 1e-9)

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


def size_text(factor: float, units: str) -> str:
    """The sentence that says how many times as many of the units would decide."""
    if np.isinf(factor):
        return "at the bound or within a margin, so that no size is sure to decide"
    if factor > MANY:
        return f"the estimate is so near the bound that even {MANY} times as many {units} would not decide"
    return f"about {max(factor, 1.1):.2g} times as many {units} would decide"


def _verdict(claim: Claim, table: pd.DataFrame) -> dict[str, str]:
    tally, numbers = (_tally(claim, found(claim, table)) for found in (comparisons, printed_comparisons))
    if lacking := _lacking(claim, table):
        verdict, reason = NOT_TESTABLE, lacking
    elif not tally.judged:
        verdict, reason = NOT_TESTABLE, _missing(claim, table)
    else:
        verdict, reason = tally.verdict, tally.reason
        if verdict == REPRODUCED and claim.identity:
            verdict, reason = IDENTITY, f"{reason}, by construction"
        elif verdict == REPRODUCED and claim.numbers:
            verdict, reason = _with_numbers(claim, tally, numbers)
    value = "" if claim.value is None else str(claim.value)
    texts = (claim.id, claim.paper, claim.place, claim.text, value, _ours(tally, numbers), verdict, reason)
    return dict(zip(COLUMNS, texts, strict=True))


def _tally(claim: Claim, found: list[Comparison]) -> Tally:
    if all(one.outcome == "no interval" for one in found):
        return Tally([], claim.share, claim.resampled)
    return Tally(
        sorted(found, key=lambda one: (one.outcome == "no interval", one.margin)), claim.share, claim.resampled
    )


def _with_numbers(claim: Claim, tally: Tally, numbers: Tally) -> tuple[str, str]:
    """Verdict and reason of a claim whose relation holds and that prints numbers."""
    printed = " and ".join(f"{number.value:g} (within {number.margin:.3g})" for number in claim.numbers)
    if not numbers.judged:
        return DIRECTION, f"{tally.reason}; no result with an interval to compare with {printed}"
    if numbers.verdict == REPRODUCED:
        return REPRODUCED, f"{tally.reason}; agrees with {printed}"
    if numbers.verdict == NOT_REPRODUCED:
        return DIRECTION, f"{tally.reason}; does not agree with {printed}"
    return DIRECTION, f"{tally.reason}; whether it agrees with {printed} is open: {numbers.size}"


def _ours(tally: Tally, numbers: Tally) -> str:
    """The narrowest comparisons, those with printed numbers first."""
    lists = [numbers.judged, tally.judged]
    shown = [f"{one.setting}: {one.numbers}".removeprefix(": ") for judged in lists for one in judged[:SHOWN]]
    more = sum(max(len(judged) - SHOWN, 0) for judged in lists)
    return "; ".join(shown) + (f"; and {more} clearer" if more else "")


def _lacking(claim: Claim, table: pd.DataFrame) -> str:
    """Why what the claim supposes is not given here; empty if it is, or if it supposes nothing."""
    if claim.provided is None:
        return ""
    rows, failing = supposed(claim, table), by_chance(claim, table)
    if rows.empty:
        return f"no results of {claim.study} say whether its {claim.provided.metric} is above chance"
    if len(failing) < (len(rows) if claim.by else 1):
        return ""
    return f"{claim.provided.metric} is not above chance: {setting_text(failing.iloc[0], claim)}"


def _missing(claim: Claim, table: pd.DataFrame) -> str:
    """Why there is nothing to judge: no interval, no control, too small a run, or no rows at all."""
    if comparisons(claim, table):
        return "the rows have no interval"
    if claim.control and comparisons(claim.model_copy(update={"control": None}), table):
        return f"nothing exceeds the bound, but the positive control ({claim.control.metric}) does not, either"
    rows = select(table[table["study"] == claim.study], claim.left, claim.where)
    short = {key: least / rows[key].max() for key, least in claim.needs.items() if key in rows and len(rows)}
    larger = "; ".join(
        f"{key} is at most {rows[key].max():g}, {factor:.2g} times as many are needed"
        for key, factor in short.items()
        if factor > 1 and np.isfinite(factor)
    )
    needs = ", ".join(f"{key} >= {least:g}" for key, least in claim.needs.items())
    text = f"no results of {claim.study} to compare in metric {claim.left.metric}" + (f" with {needs}" if needs else "")
    return f"{text}: {larger}" if larger else text
