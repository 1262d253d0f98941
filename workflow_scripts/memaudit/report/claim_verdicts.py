"""Claims of a paper with the results that decide them: the claim's text and number, its predicate, the verdict."""

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from memaudit.claims.claim_predicates import Claim, Number
from memaudit.claims.row_selection import Selection, condition_text

RELATIONS = {"greater": "is greater than", "less": "is less than", "at_most": "is at most", "close": "is close to"}


@dataclass(frozen=True)
class Verdict:
    """A judged claim for the report.

    paper_value: the number that the paper prints, empty where it prints none; comparisons: the ones that decide the
    verdict most narrowly; test: the predicate in words.
    """

    id: str
    place: str
    text: str
    paper_value: str
    comparisons: list[str]
    verdict: str
    reason: str
    test: str
    note: str


def verdicts(table: pd.DataFrame, claims: Mapping[str, Claim]) -> list[Verdict]:
    """The judged claims in the order of the table; table: rows of `statistics.verdicts`; claims: by their id."""
    return [
        Verdict(
            row.id,
            row.place,
            row.claim,
            str(row.paper_value),
            row.ours.split("; ") if row.ours else [],
            row.verdict,
            row.reason,
            predicate(claims[row.id]),
            claims[row.id].note,
        )
        for row in table.fillna("").itertuples(index=False)
    ]


def predicate(claim: Claim) -> str:
    """The claim's predicate in words, with its tolerance and the share of comparisons that must hold."""
    left = _named(claim.left)
    if claim.along:
        text = f"{left} {claim.relation} along {claim.along}"
    elif isinstance(claim.right, Selection):
        text = f"{left} {RELATIONS[claim.relation]} {_named(claim.right)}"
    else:
        right = claim.right.key or f"{claim.right.value:g}"
        factor = "" if claim.right.factor == 1 else f"{claim.right.factor:g} "
        text = f"{left} {RELATIONS[claim.relation]} {factor}{right}"
    text += f", tolerance {claim.tolerance:g}{' of it' if claim.relative else ''}" if claim.tolerance else ""
    text += "".join(f"; {_printed(number, claim)}" for number in claim.numbers)
    where = [condition_text(key, value) for key, value in claim.where.items()]
    where += [f"{key} at least {least:g}" for key, least in claim.needs.items()]
    text += f"; where {', '.join(where)}" if where else ""
    if claim.control:
        text += f"; only where {_named(claim.control)} exceeds the bound"
    return f"{text}; in {claim.share:.0%} of the comparisons, intervals included"


def _printed(number: Number, claim: Claim) -> str:
    rows = number.of or claim.difference or claim.left
    return f"{_named(rows)} within {number.margin:.3g} of the printed {number.value:g}"


def _named(selection: Selection) -> str:
    where = ", ".join(condition_text(key, value) for key, value in selection.where.items())
    quantity = "" if selection.quantity == "estimate" else f"{selection.quantity} of the interval of "
    return f"{quantity}{selection.metric}" + (f" ({where})" if where else "")
