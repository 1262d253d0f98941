"""The comparisons of intervals that a claim rests on: pair by pair, along a key, or with a printed number."""

import re
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pandas as pd

from memaudit.claims.attacked_students import vacuous
from memaudit.claims.claim_predicates import Claim, Condition, Constant, Number
from memaudit.claims.interval_outcomes import Comparison, Value, placed
from memaudit.claims.row_selection import POSITION, Scalar, Selection, select
from memaudit.common import tidy

ALIKE = re.compile(r"predictor=(?:loss|logit_gap)\b")


def comparisons(claim: Claim, table: pd.DataFrame) -> list[Comparison]:
    """Every comparison that the claim's relation rests on; table: tidy results, expanded."""
    rows = judged_rows(claim, table)
    if claim.along:
        found = _trends(claim, rows) if claim.along in rows else iter(())
    elif claim.difference is not None and len(paired := select(rows, claim.difference, claim.where)):
        found = _differences(claim, rows, paired)
    else:
        found = _pairs(claim, rows)
    # With two classes the loss and the logit gap rank records alike: they are one predictor, whose numbers differ in
    # digits that are not printed.
    return list({(ALIKE.sub("", one.setting), one.numbers): one for one in found}.values())


def printed_comparisons(claim: Claim, number: Number, table: pd.DataFrame) -> list[Comparison]:
    """Every result that the paper prints this number for, compared with it."""
    selection, found = number.of or claim.difference or claim.left, []
    for row, value in _values(select(judged_rows(claim, table), selection, claim.where), selection):
        if number.tables and not str(row["method"]).startswith(f"mean of {number.tables} "):
            continue
        difference = Value(*(part - number.value for part in (value.estimate, value.low, value.high)))
        text = f"{value} against {number.value:g} in the paper"
        found.append(placed(setting_text(row, claim), text, difference, (-number.margin, number.margin)))
    return found


def absent(claim: Claim, table: pd.DataFrame) -> dict[str, list[Scalar]]:
    """Values of the lists in `left`, or in `difference` where it decides, that no judged row has."""
    rows = judged_rows(claim, table)
    selection = _deciding(claim, rows)
    missing = {
        key: [
            one
            for one in wanted
            if select(rows, selection.model_copy(update={"where": selection.where | {key: one}}), claim.where).empty
        ]
        for key, wanted in _listed(selection).items()
    }
    return {key: values for key, values in missing.items() if values}


def _deciding(claim: Claim, rows: pd.DataFrame) -> Selection:
    """`difference` where there are results of it, else `left`."""
    paired = claim.difference is not None and len(select(rows, claim.difference, claim.where)) > 0
    return claim.difference if paired else claim.left


def _listed(selection: Selection) -> dict[str, list[Scalar]]:
    return {key: wanted for key, wanted in selection.where.items() if isinstance(wanted, list)}


def judged_rows(claim: Claim, table: pd.DataFrame) -> pd.DataFrame:
    """Rows of the claim's study that are large enough, and for which what the claim supposes is given.

    What attacks find on students that may be constant is not judged: no record changes their answers. Their utility is.
    """
    rows = table[table["study"] == claim.study]
    rows = rows[~vacuous(rows)]
    for key, least in claim.needs.items():
        rows = rows[~(sizes(rows, key) < least)]
    return _complete(claim, without_failing(claim, table, rows)) if claim.by else rows


def _complete(claim: Claim, rows: pd.DataFrame) -> pd.DataFrame:
    """Rows but those with values of the keys `by` that lack results of a value that the claim lists."""
    selection = _deciding(claim, rows)
    found = select(rows, selection, claim.where)
    for key, wanted in _listed(selection).items():
        if key not in claim.by and len(found):
            groups = found.reindex(columns=[*claim.by, key]).groupby(claim.by, dropna=False)
            short = groups[key].transform("nunique") < len(wanted)
            rows = rows[~has_values(rows, found[short], claim.by)]
    return rows


def without_failing(claim: Claim, table: pd.DataFrame, rows: pd.DataFrame) -> pd.DataFrame:
    """Rows but those with values of the keys `by` that fail a condition."""
    for one, found in zip(claim.provided, supposed(claim, table), strict=True):
        rows = rows[~has_values(rows, found[~fulfils(one, found)], one.by or claim.by)]
    return rows


def has_values(rows: pd.DataFrame, others: pd.DataFrame, keys: list[str]) -> pd.Series:
    """Whether the values of these keys of each row are those of one of the other rows, bool."""
    mine, theirs = (pd.MultiIndex.from_frame(frame.reindex(columns=keys).astype(object)) for frame in (rows, others))
    return pd.Series(mine.isin(theirs), index=rows.index)


def sizes(rows: pd.DataFrame, key: str) -> pd.Series:
    """Values of a numeric column, or of a product of columns ("models*fpr"); NaN where a row has none."""
    return rows.reindex(columns=key.split("*")).prod(axis=1, skipna=False)


def supposed(claim: Claim, table: pd.DataFrame) -> list[pd.DataFrame]:
    """Rows that say whether what the claim supposes is given, for each thing that it supposes."""
    return [select(table[table["study"] == claim.study], one, {}) for one in claim.provided]


def not_given(claim: Claim, table: pd.DataFrame) -> pd.DataFrame:
    """Rows of conditions whose interval does not fulfil its condition."""
    found = zip(claim.provided, supposed(claim, table), strict=True)
    return pd.concat([table.head(0), *(rows[~fulfils(one, rows)] for one, rows in found)])


def fulfils(condition: Condition, rows: pd.DataFrame) -> pd.Series:
    """Whether the interval, or the decision, of each row is where its condition wants it, bool."""
    if condition.at_least is not None:
        return rows["estimate"] >= condition.at_least
    start, end = bounds(condition, rows["null"])
    above = rows["low"] > start
    return above if condition.near is None else above & (rows["high"] < end)


def bounds(condition: Condition, null: pd.Series) -> tuple[pd.Series, pd.Series]:
    """Ends between which the interval of a row with this chance value must lie."""
    if condition.near is None:
        return null, null + np.inf
    return null - condition.near * null.abs(), null + condition.near * null.abs()


def _pairs(claim: Claim, rows: pd.DataFrame) -> Iterator[Comparison]:
    for row, left in _values(select(rows, claim.left, claim.where), claim.left):
        for right in _right_values(claim, rows, row, claim.left):
            if _is_controlled(claim, rows, row, right):
                difference = Value(left.estimate - right.estimate, left.low - right.high, left.high - right.low)
                yield _judge(
                    claim, setting_text(row, claim), f"{left} against {right}", difference, abs(right.estimate)
                )


def _is_controlled(claim: Claim, rows: pd.DataFrame, row: pd.Series, right: Value) -> bool:
    """Whether the positive control, if the claim has one, exceeds the bound that this row is held against."""
    if claim.control is None:
        return True
    controls = _joined(rows, claim.control, claim, row, claim.left)
    return any(control.estimate > right.estimate for _, control in _values(controls, claim.control))


def _differences(claim: Claim, rows: pd.DataFrame, paired: pd.DataFrame) -> Iterator[Comparison]:
    for row, difference in _values(paired, claim.difference):
        if not (claim.relative and claim.tolerance):
            yield _judge(claim, setting_text(row, claim), f"{difference} (paired)", difference, 1.0)
            continue
        for right in _right_values(claim, rows, row, claim.difference):
            yield _judge(
                claim, setting_text(row, claim), f"{difference} beside {right}", difference, abs(right.estimate)
            )


def _right_values(claim: Claim, rows: pd.DataFrame, row: pd.Series, selection: Selection) -> Iterator[Value]:
    if isinstance(claim.right, Constant):
        point = claim.right.factor * (row[claim.right.key] if claim.right.key else claim.right.value)
        yield Value(point, point, point)
        return
    joined = _joined(rows, claim.right, claim, row, selection)
    yield from (value for _, value in _values(joined, claim.right))


def _joined(rows: pd.DataFrame, other: Selection, claim: Claim, row: pd.Series, selection: Selection) -> pd.DataFrame:
    """Rows of `other` in the setting of `row`: equal in every key that neither selection fixes."""
    found = select(rows, other, claim.where)
    for key in _keys(rows):
        free = key not in selection.where and key not in other.where
        if free and pd.notna(row[key]) and found[key].notna().any():
            found = found[found[key] == row[key]]
    return found


def _trends(claim: Claim, rows: pd.DataFrame) -> Iterator[Comparison]:
    along = select(rows, claim.left, claim.where)
    others = [key for key in _keys(along) if key != claim.along and along[key].notna().any()]
    ordered = along.sort_values(claim.along)
    for _, group in ordered.groupby(others, dropna=False) if others else [((), ordered)]:
        if len(group) > 1:
            yield _trend(claim, rows, group)


def _trend(claim: Claim, rows: pd.DataFrame, group: pd.DataFrame) -> Comparison:
    """One setting's values in the order of the key; a paired difference of the last and the first decides for both."""
    values = [value for _, value in _values(group, claim.left)]
    sign = 1 if claim.relation == "increases" else -1
    first, last = values[0], values[-1]
    points = _are_points(claim)
    reversed_step = not points and any(_rise(b, a, sign).low > 0 for a, b in pairwise(values))
    ends = group[claim.along].iloc[[0, -1]].tolist()
    numbers = f"{first} at {ends[0]:g}, {last} at {ends[1]:g}" + (", with a step back" if reversed_step else "")
    setting = setting_text(group.iloc[0].drop(claim.along), claim)
    tolerance = claim.tolerance * (abs(first.estimate) if claim.relative else 1.0)
    rise = _rise(first, last, sign)
    if (paired := _paired_rise(claim, rows, group, sign)) is not None:
        change = paired if sign > 0 else Value(-paired.estimate, -paired.high, -paired.low)
        rise, numbers = paired, f"{numbers}, a change of {change} (paired)"
    if points:
        rise, tolerance = _within_margin(rise, tolerance), 0.0
    found = placed(setting, numbers, rise, (tolerance, np.inf), strict=True, shrinks=not points)
    against = reversed_step and found.outcome != "no interval"
    return Comparison(setting, numbers, "opposite", found.margin) if against else found


def _paired_rise(claim: Claim, rows: pd.DataFrame, group: pd.DataFrame, sign: int) -> Value | None:
    """The paired difference of this setting's last value and its first, where there is one."""
    if claim.difference is None:
        return None
    start, end = group[claim.along].iloc[[0, -1]]
    found = select(rows, claim.difference, claim.where)
    for key, value in {claim.along: end, "less": start}.items():
        found = found[pd.to_numeric(found.reindex(columns=[key])[key], errors="coerce") == float(value)]
    for key, value in group.iloc[-1][_keys(rows)].drop([claim.along, "less"], errors="ignore").items():
        found = found[found[key] == value] if pd.notna(value) and found[key].notna().any() else found
    pairs = [value for _, value in _values(found, claim.difference)]
    if not pairs:
        return None
    low, high = sorted((sign * pairs[0].low, sign * pairs[0].high))
    return Value(sign * pairs[0].estimate, low, high)


def _rise(a: Value, b: Value, sign: int) -> Value:
    """b - a, in the direction of sign, with the interval that both intervals allow."""
    low, high = (b.low - a.high, b.high - a.low) if sign > 0 else (a.low - b.high, a.high - b.low)
    return Value(sign * (b.estimate - a.estimate), low, high)


def _are_points(claim: Claim) -> bool:
    """Whether both sides are widths or ends of intervals, which have no interval of their own."""
    return claim.left.quantity != "estimate" and not isinstance(claim.right, Constant)


def _within_margin(difference: Value, margin: float) -> Value:
    """A difference of such quantities with the claim's tolerance as the half-width of its interval."""
    return Value(difference.estimate, difference.estimate - margin, difference.estimate + margin)


def _judge(claim: Claim, setting: str, numbers: str, difference: Value, scale: float) -> Comparison:
    tolerance = claim.tolerance * (scale if claim.relative else 1.0)
    if _are_points(claim):
        difference, tolerance = _within_margin(difference, tolerance), 0.0
    region = {
        "greater": (tolerance, np.inf),
        "less": (-np.inf, -tolerance),
        "at_most": (-np.inf, tolerance),
        "close": (-tolerance, tolerance),
    }[claim.relation]
    strict = claim.relation in ("greater", "less")
    reach = region if claim.effect is None else _beyond(claim.relation, claim.effect)
    return placed(setting, numbers, difference, region, reach, strict=strict, shrinks=not _are_points(claim))


def _beyond(relation: str, effect: float) -> tuple[float, float]:
    """Differences that are at least an effect, in the direction of the relation."""
    return (effect, np.inf) if relation == "greater" else (-np.inf, -effect)


def _values(rows: pd.DataFrame, selection: Selection) -> Iterator[tuple[pd.Series, Value]]:
    for _, row in rows.iterrows():
        point = row["high"] - row["low"] if selection.quantity == "width" else row[selection.quantity]
        interval = (row["low"], row["high"]) if selection.quantity == "estimate" else (point, point)
        yield row, Value(point, *interval)


def _keys(table: pd.DataFrame) -> list[str]:
    return [column for column in table if column not in tidy.COLUMNS]


def setting_text(row: pd.Series, claim: Claim) -> str:
    """Keys and values of a row that the claim does not fix."""
    wanted = claim.where | claim.left.where
    fixed = {key for key in wanted if isinstance(wanted[key], Scalar) and wanted[key] not in POSITION}
    parts = {key: row[key] for key in row.index if key not in tidy.COLUMNS and key not in fixed and pd.notna(row[key])}
    return ", ".join(
        f"{key}={value:g}" if isinstance(value, float) else f"{key}={value}" for key, value in parts.items()
    )
