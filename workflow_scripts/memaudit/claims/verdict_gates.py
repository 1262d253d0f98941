"""Gates of a claim: what decides, before any comparison, whether its results are judged at all.

An attacked student that is constant, a condition that is not fulfilled, and a positive control that finds nothing
leave results out. Where the noise has no seed, another run can leave out others, and can have other constant students.
"""

from collections.abc import Iterator
from functools import reduce
from operator import or_
from typing import Any

import pandas as pd

from memaudit.claims.attacked_students import UTILITY, is_utility, left_out_again, vacuous
from memaudit.claims.claim_comparisons import bounds, fulfils, not_given, supposed
from memaudit.claims.claim_predicates import Claim
from memaudit.claims.verdict_stability import outcome_chances
from memaudit.common.constant_students import ATTACKED, CONSTANT, rests_on_constant

TOGETHER = "several conditions together"
STUDENT = "a constant student"


def without_gates(claim: Claim, table: pd.DataFrame) -> Iterator[tuple[str, Claim, pd.DataFrame]]:
    """Names of gates that leave something out, with the claim and the table without them: each alone, then together.

    At last the utility of constant students, with the table without it: their intervals are those of this run alone.
    What the claim supposes is no gate where no results say whether it is given: in another run none do, either.
    """
    lifted: dict[str, tuple[dict[str, Any], pd.DataFrame]] = {}
    whole = table[~table["metric"].isin([CONSTANT, ATTACKED])]
    if vacuous(table).any():
        lifted["an attack on a constant student"] = {}, whole
    if all(map(len, supposed(claim, table))) and len(not_given(claim, table)):
        lifted["a condition that is not fulfilled"] = {"provided": [], "by": []}, table
    if claim.control:
        lifted["a positive control that finds nothing"] = {"control": None}, table
    for name, (without, rest) in lifted.items():
        yield name, claim.model_copy(update=without), rest
    if len(lifted) > 1:
        together = reduce(or_, (without for without, _ in lifted.values()))
        yield TOGETHER, claim.model_copy(update=together), whole
    if (useless := rests_on_constant(table) & is_utility(table)).any():
        yield STUDENT, claim, table[~useless]


def condition_limit(claim: Claim, table: pd.DataFrame) -> float:
    """Upper limit of the probability that a condition that holds in this run does not in another one."""
    missed = 0.0 if claim.left.metric in UTILITY else left_out_again(table[table["study"] == claim.study])
    for one, rows in zip(claim.provided, supposed(claim, table), strict=True):
        if one.at_least is not None:
            continue
        given = rows[fulfils(one, rows)]
        start, end = bounds(one, given["null"])
        parts = zip(given["low"], given["high"], start, end, strict=True)
        missed += sum(1 - outcome_chances(low, high, region)[0] for low, high, *region in parts)
    return min(missed, 1.0)


def gate_text(names: list[str]) -> str:
    """The sentence on a verdict that would be another one without these gates."""
    alone = [name for name in names if name != TOGETHER] or names
    return (
        f"; another run, with other noise, may give another verdict, since this one hangs on {' or '.join(alone)}; how "
        "probable that is is not known"
    )
