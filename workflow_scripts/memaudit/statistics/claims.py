"""Verdicts on the papers' claims: each a small predicate, data only, over the rows of tidy results.

A predicate compares intervals: left against right, pair by pair over all settings that both have, or left along a key.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd
import yaml
from pydantic import Field, TypeAdapter, ValidationError, model_validator

from memaudit import tidy
from memaudit.errors import AuditError
from memaudit.statistics.row_selection import POSITION, Scalar, Selection, Strict, Wanted, select

SHOWN = 3


class Constant(Strict):
    """A number, or the row's own value of a settings key, times factor."""

    value: float | None = None
    key: str | None = None
    factor: float = 1.0

    @model_validator(mode="after")
    def _one_of_two(self) -> "Constant":
        if (self.value is None) == (self.key is None):
            raise ValueError("give either value or key")
        return self


class Claim(Strict):
    """One claim of a paper and the predicate that tests it.

    greater, less: the difference's interval lies beyond `tolerance`; at_most: its upper end is at most `tolerance`;
    close: it lies within +-tolerance; increases, decreases: the intervals at both ends of the key `along` are disjoint
    in that direction, and no step of it is in the other. relative: tolerance is in units of the right side.
    difference: rows of left - right that decide where there are any (paired intervals are narrower).
    share: part of the comparisons that must hold. needs: least values of numeric columns; other rows are not judged.
    provided: rows whose intervals must lie above what chance gives (`null`), else the claim cannot be tested here.
    by: a key; `provided` is tested for each of its values, and rows of values that fail are not judged.
    """

    id: str
    paper: str
    place: str
    text: str
    value: Scalar | None = None
    study: str
    relation: Literal["greater", "less", "at_most", "close", "increases", "decreases"]
    left: Selection
    right: Selection | Constant | None = None
    difference: Selection | None = None
    along: str | None = None
    tolerance: float = Field(0.0, ge=0)
    relative: bool = False
    where: dict[str, Wanted] = Field({})
    needs: dict[str, float] = Field({})
    provided: Selection | None = None
    by: str | None = None
    share: float = Field(0.8, gt=0, le=1)
    note: str = ""

    @model_validator(mode="after")
    def _complete(self) -> "Claim":
        trend = self.relation in ("increases", "decreases")
        if trend != (self.along is not None) or trend != (self.right is None) or (trend and self.difference):
            raise ValueError("increases and decreases take `along` alone, every other relation takes `right`")
        if self.by and not self.provided:
            raise ValueError("`by` says for which values of a key something is `provided`: name that, too")
        return self


@dataclass(frozen=True)
class Value:
    """An estimate with its interval."""

    estimate: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.estimate:.3g}" + (f" [{self.low:.3g}, {self.high:.3g}]" if self.low < self.high else "")


@dataclass(frozen=True)
class Comparison:
    """One setting's outcome; margin: how far its interval is on the claim's side, negative where it is not."""

    setting: str
    numbers: str
    outcome: Literal["holds", "opposite", "inconclusive", "no interval"]
    margin: float


def load(path: str | Path) -> list[Claim]:
    """Claims of a YAML file. Raises AuditError naming the claim and the key that is wrong, or an id given twice."""
    try:
        raw = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
        claims = TypeAdapter(list[Claim]).validate_python(raw)
    except (OSError, yaml.YAMLError) as error:
        raise AuditError(f"{path}: cannot be read as YAML ({error})") from error
    except ValidationError as error:
        raise AuditError(f"{path}: " + "; ".join(_complaint(raw, **one) for one in error.errors())) from error
    ids = pd.Series([claim.id for claim in claims])
    if ids.duplicated().any():
        raise AuditError(f"{path}: claim {ids[ids.duplicated()].iloc[0]} stands twice: give each an id of its own")
    return claims


def _complaint(raw: object, loc: tuple[int | str, ...], msg: str, **_: object) -> str:
    position, *keys = loc or ("",)
    entry = raw[position] if isinstance(raw, list) and isinstance(position, int) else {}
    name = entry.get("id", position) if isinstance(entry, dict) else position
    return f"claim {name}, {'.'.join(map(str, keys)) or 'as a whole'}: {msg}"


def verdicts(claims: list[Claim], results: pd.DataFrame) -> pd.DataFrame:
    """One row per claim, from tidy results: id, paper, place, claim, paper_value, ours, verdict, reason.

    The verdict is "reproduced" where the claim's share of the comparisons holds; else "not reproduced" where any shows
    the opposite; else "not testable at this scale": no rows, none large enough, or intervals that cannot tell.
    """
    table = tidy.expand(results)
    return pd.DataFrame([_verdict(claim, table) for claim in claims])


def comparisons(claim: Claim, table: pd.DataFrame) -> list[Comparison]:
    """Every comparison that the claim rests on; table: tidy results, expanded."""
    rows = table[table["study"] == claim.study]
    for key, least in claim.needs.items():
        rows = rows[~(rows[key] < least)] if key in rows else rows
    if claim.by and claim.by in rows:
        rows = rows[~rows[claim.by].isin(_by_chance(claim, table)[claim.by])]
    if claim.along:
        return list(_trends(claim, select(rows, claim.left, claim.where))) if claim.along in rows else []
    if claim.difference is not None and len(paired := select(rows, claim.difference, claim.where)):
        return list(_differences(claim, rows, paired))
    return list(_pairs(claim, rows))


def _verdict(claim: Claim, table: pd.DataFrame) -> dict[str, str]:
    found = comparisons(claim, table)
    judged = sorted((one for one in found if one.outcome != "no interval"), key=lambda one: one.margin)
    count = {
        outcome: sum(one.outcome == outcome for one in judged) for outcome in ("holds", "opposite", "inconclusive")
    }
    if lacking := _lacking(claim, table):
        verdict, reason = "not testable at this scale", lacking
    elif not judged:
        verdict, reason = "not testable at this scale", "the rows have no interval" if found else _missing(claim)
    else:
        undecided = "not reproduced" if count["opposite"] else "not testable at this scale"
        verdict = "reproduced" if count["holds"] >= claim.share * len(judged) else undecided
        reason = f"holds in {count['holds']} of {len(judged)} comparisons" + "".join(
            f", {count[outcome]} {text}"
            for outcome, text in (
                ("opposite", "show the opposite"),
                ("inconclusive", "cannot tell (intervals too wide)"),
            )
            if count[outcome]
        )
    ours = "; ".join(f"{one.setting}: {one.numbers}".removeprefix(": ") for one in judged[:SHOWN])
    more = f"; and {len(judged) - SHOWN} clearer" if len(judged) > SHOWN else ""
    value = "" if claim.value is None else str(claim.value)
    texts = (claim.id, claim.paper, claim.place, claim.text, value, ours + more, verdict, reason)
    return dict(zip(("id", "paper", "place", "claim", "paper_value", "ours", "verdict", "reason"), texts, strict=True))


def _lacking(claim: Claim, table: pd.DataFrame) -> str:
    """Why what the claim supposes is not given here; empty if it is, or if it supposes nothing."""
    if claim.provided is None:
        return ""
    rows, failing = _asked(claim, table), _by_chance(claim, table)
    if rows.empty:
        return f"no results of {claim.study} say whether its {claim.provided.metric} is above chance"
    if len(failing) < (len(rows) if claim.by else 1):
        return ""
    return f"{claim.provided.metric} is not above chance: {_text(failing.iloc[0], claim)}"


def _asked(claim: Claim, table: pd.DataFrame) -> pd.DataFrame:
    """Rows that say whether what the claim supposes is given."""
    return select(table[table["study"] == claim.study], claim.provided, {})


def _by_chance(claim: Claim, table: pd.DataFrame) -> pd.DataFrame:
    """Those of them whose interval reaches what chance gives."""
    rows = _asked(claim, table)
    return rows[~(rows["low"] > rows["null"])]


def _missing(claim: Claim) -> str:
    needs = ", ".join(f"{key} >= {least:g}" for key, least in claim.needs.items())
    return f"no results of {claim.study} to compare in metric {claim.left.metric}" + (f" with {needs}" if needs else "")


def _pairs(claim: Claim, rows: pd.DataFrame) -> Iterator[Comparison]:
    for row, left in _values(select(rows, claim.left, claim.where), claim.left):
        for right in _right_values(claim, rows, row, claim.left):
            difference = Value(left.estimate - right.estimate, left.low - right.high, left.high - right.low)
            yield _judge(claim, _text(row, claim), f"{left} against {right}", difference, abs(right.estimate))


def _differences(claim: Claim, rows: pd.DataFrame, paired: pd.DataFrame) -> Iterator[Comparison]:
    for row, difference in _values(paired, claim.difference):
        for right in _right_values(claim, rows, row, claim.difference):
            yield _judge(claim, _text(row, claim), f"{difference} beside {right}", difference, abs(right.estimate))


def _right_values(claim: Claim, rows: pd.DataFrame, row: pd.Series, selection: Selection) -> Iterator[Value]:
    if isinstance(claim.right, Constant):
        point = claim.right.factor * (row[claim.right.key] if claim.right.key else claim.right.value)
        yield Value(point, point, point)
        return
    right = select(rows, claim.right, claim.where)
    for key in _keys(rows):
        if (
            key not in selection.where
            and key not in claim.right.where
            and pd.notna(row[key])
            and right[key].notna().any()
        ):
            right = right[right[key] == row[key]]
    yield from (value for _, value in _values(right, claim.right))


def _trends(claim: Claim, rows: pd.DataFrame) -> Iterator[Comparison]:
    others = [key for key in _keys(rows) if key != claim.along and rows[key].notna().any()]
    sign = 1 if claim.relation == "increases" else -1
    ordered = rows.sort_values(claim.along)
    for _, group in ordered.groupby(others, dropna=False) if others else [((), ordered)]:
        values = [value for _, value in _values(group, claim.left)]
        if len(values) < 2:
            continue
        (first, last), steps = (values[0], values[-1]), pairwise(values)
        reversed_step = any(_gap(b, a, sign) > 0 for a, b in steps) and claim.left.quantity == "estimate"
        margin, against = _gap(first, last, sign), _gap(last, first, sign)
        outcome = "opposite" if against > 0 or reversed_step else "holds" if margin > 0 else "inconclusive"
        ends = group[claim.along].iloc[[0, -1]].tolist()
        numbers = f"{first} at {ends[0]:g}, {last} at {ends[1]:g}" + (", with a step back" if reversed_step else "")
        setting = _text(group.iloc[0].drop(claim.along), claim)
        yield Comparison(setting, numbers, "no interval" if np.isnan(margin) else outcome, margin)


def _gap(a: Value, b: Value, sign: int) -> float:
    """Distance by which b's interval is beyond a's, in the direction of sign; negative where they overlap."""
    return b.low - a.high if sign > 0 else a.low - b.high


def _judge(claim: Claim, setting: str, numbers: str, difference: Value, scale: float) -> Comparison:
    tolerance = claim.tolerance * (scale if claim.relative else 1.0)
    below, above = difference.low, difference.high
    holds, opposite = {
        "greater": (below - tolerance, tolerance - above),
        "less": (-tolerance - above, below + tolerance),
        "at_most": (tolerance - above, below - tolerance),
        "close": (min(tolerance - above, below + tolerance), max(below - tolerance, -tolerance - above)),
    }[claim.relation]
    strict = claim.relation in ("greater", "less")
    if np.isnan(holds):
        outcome = "no interval"
    elif holds > 0 or (holds == 0 and not strict):
        outcome = "holds"
    else:
        outcome = "opposite" if opposite > 0 else "inconclusive"
    return Comparison(setting, numbers, outcome, holds)


def _values(rows: pd.DataFrame, selection: Selection) -> Iterator[tuple[pd.Series, Value]]:
    for _, row in rows.iterrows():
        point = row["high"] - row["low"] if selection.quantity == "width" else row[selection.quantity]
        interval = (row["low"], row["high"]) if selection.quantity == "estimate" else (point, point)
        yield row, Value(point, *interval)


def _keys(table: pd.DataFrame) -> list[str]:
    return [column for column in table if column not in tidy.COLUMNS]


def _text(row: pd.Series, claim: Claim) -> str:
    # Keys that the claim fixes are left out of the text.
    wanted = claim.where | claim.left.where
    fixed = {key for key in wanted if isinstance(wanted[key], Scalar) and wanted[key] not in POSITION}
    parts = {key: row[key] for key in row.index if key not in tidy.COLUMNS and key not in fixed and pd.notna(row[key])}
    return ", ".join(
        f"{key}={value:g}" if isinstance(value, float) else f"{key}={value}" for key, value in parts.items()
    )
