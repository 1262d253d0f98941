"""Worst-case canaries for parts that a release may have: learned labels, a number target, people with several rows,
and bounds that are paid for. See docs/release-audit.md.

Learned labels have a larger budget: their release takes long, and few of them show nothing of epsilon 1. The adversary
sees a part of the classifier alone, by the labels of drawn queries, so that their control has a tenth of the noise.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd

from memaudit.common.arrays import Array32
from memaudit.privacy.accounting import Budget
from memaudit.privacy.noisy_bounds import noisy_bounds, planned_bounds
from memaudit.privacy.public_facts import Public
from memaudit.privacy.tabpate_release import Released, Settings, TabPATE, planned
from memaudit.privacy.teacher_shards import Context
from memaudit.studies.release_audit.audited_releases import AS_RELEASED, BUDGET, CORNER, HALVED, MOMENTS, Condition
from memaudit.studies.release_audit.broken_releases import halved, tenth
from memaudit.studies.release_audit.neighbour_tables import FACTS, Neighbours, base_rows, neighbours, read

LARGER = Budget(16.0, BUDGET.delta)
LEARNED = Settings(500, prior="moments", alpha=0.5, by_class=True, labels="learned")
NUMBERS = Settings(10, teachers=11)
NUMBER_FACTS = {**FACTS, "task": "regression", "target": [0.0, 1.0]}
ROWS = 8  # of the person that is the canary
BOUND = ["mark"]  # the column whose bounds are paid for
NEAR = 0.3  # queries with a larger `mark`, and of the canary's kind, are near it
INNER, OUTER = 0.1, 0.75  # values in an inner bin of it, and in the outermost one


def optional_conditions() -> dict[str, Condition]:
    """The conditions by name: each part as released, then broken."""
    learned = Condition(
        "labels learned",
        "a record at the corner of the bounds",
        AS_RELEASED,
        lambda: _with(base_rows(12, 12), [CORNER]),
        lambda mechanism: mechanism.release(LEARNED, LARGER),
        lambda public: planned(LEARNED, LARGER, public).guarantee(public).mu,
        share=0.02,
        seen=_labelled_corner,
    )
    number = Condition(
        "number target",
        "a record that decides the prediction of its teacher",
        AS_RELEASED,
        _number_tables,
        lambda mechanism: mechanism.release(NUMBERS, BUDGET),
        lambda public: planned(NUMBERS, BUDGET, public).guarantee(public).mu,
        share=0.5,
        predict=marks_prediction,
        seen=_mean_label,
    )
    people = Condition(
        "people with several rows",
        f"a person with {ROWS} rows at the corner of the bounds",
        AS_RELEASED,
        lambda: _person(by_person=True),
        lambda mechanism: mechanism.release(MOMENTS, BUDGET),
        lambda public: planned(MOMENTS, BUDGET, public).guarantee(public).mu,
        share=0.5,
    )
    bounds = Condition(
        "paid bounds",
        "a record that lifts the count of the outermost bin over the threshold",
        AS_RELEASED,
        _outer_tables,
        _bounds,
        lambda public: planned_bounds(public, BOUND, BUDGET).guarantee.mu,
        share=0.5,
        seen=lambda found: [end for ends in found.values() for end in ends],
    )
    parts = [learned, number, people, bounds]
    rows = replace(people, broken="each row counts as a person", tables=lambda: _person(by_person=False), share=0.1)
    little = replace(learned, broken="a tenth of the noise", noise=tenth)
    broken = [little, *(replace(one, broken=HALVED, noise=halved) for one in parts[1:]), rows]
    return {f"{one.part}: {one.broken}": one for one in (*parts, *broken)}


def marks_prediction(contexts: Sequence[Context], queries: Array32) -> Array32:
    """Predictions (context, query): the upper bound of the target where a context has a record at that of `mark`."""
    marked = [float((x[:, 0] >= 1).any()) for x, _ in contexts]
    return np.repeat(np.float32(marked)[:, None], len(queries), axis=1)


def _with(rows: pd.DataFrame, records: Sequence[dict], **options) -> Neighbours:
    both = pd.concat([rows, pd.DataFrame(list(records))], ignore_index=True)
    return neighbours(read(rows, **options), read(both, **options))


def _number_tables() -> Neighbours:
    rows = base_rows(44, 44)
    rows["answer"] = np.where(rows["answer"] == "yes", 1.0, 0.0)
    return _with(rows, [CORNER | {"answer": 1.0}], facts=NUMBER_FACTS)


def _person(*, by_person: bool) -> Neighbours:
    """All rows of the canary are one unit, or, where the grouping is broken, each is one."""
    rows = base_rows(120, 480)
    rows["who"] = [f"person {place}" for place in range(len(rows))]
    own = [CORNER | {"who": "the canary" if by_person else f"the canary's row {place}"} for place in range(ROWS)]
    return _with(rows, own, group="who")


def _outer_tables() -> Neighbours:
    """As many records in the outermost bin as do not exceed the threshold, but one more does."""
    rows = base_rows(60, 60)
    rows["mark"] = INNER
    full = int(planned_bounds(read(rows).public, BOUND, BUDGET).threshold)
    rows.loc[: full - 1, "mark"] = OUTER
    return _with(rows, [CORNER | {"mark": OUTER}])


@cache
def _plan(public: Public):
    return planned_bounds(public, BOUND, BUDGET)


def _bounds(mechanism: TabPATE) -> dict[str, tuple[float, float]]:
    private = mechanism.private
    return noisy_bounds(private.public, private.x[:, :1], private.units, _plan(private.public), mechanism.noise)


def _labelled_corner(released: Released) -> list[float]:
    """Shares labelled as the canary is, near it and elsewhere, and the means of both columns."""
    x, labelled = np.nan_to_num(released.x.astype(np.float64)), released.y == 1
    near = (x[:, 0] > NEAR) & (x[:, 1] == 1)
    shares = [float(labelled[part].mean()) if part.any() else 0.5 for part in (near, ~near)]
    return [*shares, *x.mean(0)]


def _mean_label(released: Released) -> list[float]:
    return [float(released.y.mean())]
