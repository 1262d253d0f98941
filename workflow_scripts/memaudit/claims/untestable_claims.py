"""Why a claim cannot be tested in a run: what it supposes is not given, or there is nothing to judge."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from memaudit.claims.attacked_students import vacuous
from memaudit.claims.claim_comparisons import (
    comparisons,
    fulfils,
    has_values,
    judged_rows,
    setting_text,
    sizes,
    supposed,
    without_failing,
)
from memaudit.claims.claim_predicates import Claim, Condition
from memaudit.claims.interval_outcomes import size_text, times_text
from memaudit.claims.row_selection import Selection, Wanted, condition_text, select


def lacking(claim: Claim, table: pd.DataFrame) -> str:
    """Why what the claim supposes is not given here; empty if it is, or if it supposes nothing."""
    given = supposed(claim, table)
    for one, rows in zip(claim.provided, given, strict=True):
        if rows.empty:
            wanted = conditions_text(claim.where | one.where)
            return f"no results of {claim.study} say whether its {one.metric} is {one.place}" + (
                f": none with {wanted}" if wanted else ""
            )
    if reason := _out_of_reach(claim, table) or _too_few(claim, table):
        return reason
    failing = [(one, rows[~fulfils(one, rows)]) for one, rows in zip(claim.provided, given, strict=True)]
    if claim.by:
        common = _values_compared(claim, table, _values_with_results(claim, given))
        if len(without_failing(claim, table, common)):
            return ""
        failing = [(one, rows[has_values(rows, common, one.by or claim.by)]) for one, rows in failing]
    return next((_not_fulfilled(one, rows.iloc[0], claim) for one, rows in failing if len(rows)), "")


def _values_with_results(claim: Claim, given: list[pd.DataFrame]) -> pd.DataFrame:
    """Values of the keys `by`, a row each, for which every condition has results."""
    whole = (rows for one, rows in zip(claim.provided, given, strict=True) if not one.by)
    common = next(whole).reindex(columns=claim.by).drop_duplicates()
    for one, rows in zip(claim.provided, given, strict=True):
        common = common[has_values(common, rows, one.by or claim.by)]
    return common


def _values_compared(claim: Claim, table: pd.DataFrame, values: pd.DataFrame) -> pd.DataFrame:
    """Those of these values that rows of a side that decides have, too; all where none of them has."""
    rows = table[table["study"] == claim.study]
    sides = pd.concat([select(rows, side, claim.where) for side in (claim.left, claim.difference) if side])
    compared = values[has_values(values, sides, claim.by)]
    return compared if len(compared) else values


def _too_few(claim: Claim, table: pd.DataFrame) -> str:
    """How many comparisons there are, and how many of them fulfil the conditions, where a claim needs more."""
    judged = len(comparisons(claim, table)) if claim.least > 1 else claim.least
    if judged >= claim.least:
        return ""
    every = len(comparisons(claim.model_copy(update={"provided": [], "by": []}), table))
    if not every:
        return ""
    return f"its conditions are fulfilled in {judged} of {every} comparisons, and it needs {claim.least}"


def _not_fulfilled(condition: Condition, row: pd.Series, claim: Claim) -> str:
    """Which condition an interval does not fulfil, and what would help."""
    if condition.at_least is not None:
        found = f"{row['metric']} is {row['estimate']:g}: {setting_text(row, claim)}"
        return f"{found}; it needs a setting in which it is {condition.place}"
    if condition.near is None:
        return f"{row['metric']} is not above chance: {setting_text(row, claim)}{_above_chance(row, claim)}"
    text = (
        f"{row['metric']} is not shown to be within {condition.near:.0%} of {row['null']:g}: {setting_text(row, claim)}"
    )
    room = condition.near * abs(row["null"]) - abs(row["estimate"] - row["null"])
    if room <= 0:
        return f"{text}; it needs a setting in which it is"
    width = max(row["high"] - row["estimate"], row["estimate"] - row["low"])
    return f"{text}; {size_text(float((width / room) ** 2), claim.resampled)}"


def _out_of_reach(claim: Claim, table: pd.DataFrame) -> str:
    """Why no size of this run would decide: runs that it lacks, or a metric too near its bound for the effect."""
    rows = table[table["study"] == claim.study]
    if claim.covers and select(rows, claim.covers, {}).empty:
        wanted = f"{claim.covers.metric}, {conditions_text(claim.covers.where)}"
        return f"the run has no results of {wanted}; the paper's statement rests on these, too"
    if claim.room:
        found = select(judged_rows(claim, table), claim.room, claim.where)["estimate"]
        if len(found) and (found + claim.effect > 1).all():
            least = f"{claim.room.metric} is {found.min():.3g} or more already"
            return f"{least}, so that {claim.effect:g} more are out of reach"
    return _of_its_own(claim, table) if claim.unlike else ""


def _of_its_own(claim: Claim, table: pd.DataFrame) -> str:
    """Why the sentence is that on other rows once more; empty where some of its rows differ from all of these."""
    rows = judged_rows(claim, table)
    mine, others = (select(rows, one, claim.where)["estimate"].dropna() for one in (claim.left, claim.unlike))
    if len(mine) and all(np.isclose(value, others, rtol=1e-12).any() for value in mine):
        return f"its results are those with {conditions_text(claim.unlike.where)}; it needs a run in which they differ"
    return ""


def _above_chance(row: pd.Series, claim: Claim) -> str:
    """What would put an estimate above chance: how many times as much data, or another setting."""
    gap = row["estimate"] - row["null"]
    if gap > 0:
        return f"; {size_text(float(((row['estimate'] - row['low']) / gap) ** 2), claim.resampled)}"
    return "; it needs a setting in which it is"


def missing(claim: Claim, table: pd.DataFrame) -> str:
    """Why there is nothing to judge: no interval, no control, too small a run, or no rows at all."""
    if comparisons(claim, table):
        return "the rows have no interval; it needs rows that have one"
    if claim.control and comparisons(claim.model_copy(update={"control": None}), table):
        control = f"the positive control ({claim.control.metric}) does not, either"
        return f"nothing exceeds the bound, but {control}; it needs a run in which the control does"
    found = table[table["study"] == claim.study]
    sides = [side for side in (claim.left, claim.right) if isinstance(side, Selection)]
    side = next((side for side in sides if select(found, side, claim.where).empty), claim.left)
    rows = select(found, side, claim.where)
    if setting := _constant(claim, found):
        why = "students may be constant, or were taught fewer labels than classes"
        return f"{why}: {setting}; it needs a run in which fewer than half are shown to be so"
    short = {key: least / sizes(rows, key).max() for key, least in claim.needs.items() if len(rows)}
    larger = [
        f"{key} is at most {sizes(rows, key).max():g}, {times_text(factor)} times as many are needed"
        for key, factor in short.items()
        if factor > 1 and np.isfinite(factor)
    ]
    # A condition without which there would be rows is the one that none of them meets.
    wanted, metric = claim.where | side.where, Selection(metric=side.metric)
    others = {key: {other: one for other, one in wanted.items() if other != key} for key in wanted}
    none = {
        key: wanted[key]
        for key, where in others.items()
        if wanted[key] is not None and rows.empty and len(select(found, metric, where))
    }
    larger += [f"none with {conditions_text(none)}"] if none else []
    needs = ", ".join(f"{key} >= {least:g}" for key, least in claim.needs.items())
    text = f"no results of {claim.study} to compare in metric {side.metric}" + (f" with {needs}" if needs else "")
    return f"{text}: {'; '.join(larger)}" if larger else text


def _constant(claim: Claim, found: pd.DataFrame) -> str:
    """Setting of a constant student on one of the claim's sides, empty if there is none."""
    sides = [side for side in (claim.left, claim.right) if isinstance(side, Selection)]
    constant = pd.concat([select(found[vacuous(found)], side, claim.where) for side in sides])
    keys = [key for key in ("dataset", "arm", "epsilon") if len(constant)]
    return ", ".join(f"{key}={constant.iloc[0][key]}" for key in keys)


def conditions_text(where: Mapping[str, Wanted]) -> str:
    """Conditions of `where` in words."""
    return ", ".join(condition_text(key, wanted) for key, wanted in where.items())
