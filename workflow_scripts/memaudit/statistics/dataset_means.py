"""Means of tidy results over data sets or settings with their intervals, and published numbers as tidy rows beside."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from memaudit.common import tidy
from memaudit.common.errors import AuditError
from memaudit.statistics.intervals import mean_of

AS_PRINTED = "as printed"  # the method of a paper's numbers


def means(
    study: str,
    scores: pd.DataFrame,
    keys: Sequence[str],
    averaged: str,
    complete: Mapping[str, int] | int,
    called: str,
    name: str = "mean",
) -> Iterator[dict[str, Any]]:
    """Tidy rows of the mean over all values of the key `averaged`, one for each combination of `keys` and metric.

    scores: expanded tidy results. complete: number of values that a combination must have, or that number by value of
    the first of `keys`; combinations with fewer are left out. called: what the method text calls the averaged values,
    such as "data sets". Rows gain the keys `source` = here and `averaged` = `name`; missing (NaN) keys are left out.
    Interval: MOVER, from the interval of each. Raises AuditError where values of one mean differ in their unit.
    """
    for values, group in scores.groupby([*keys, "metric"], sort=False, dropna=False):
        *of_group, metric = values
        if len(group) < (complete if isinstance(complete, int) else complete[of_group[0]]):
            continue
        if (units := group["unit"]).nunique() > 1:
            raise AuditError(
                f"{study}: {metric} is in {' and in '.join(units.unique())}, so it has no mean over {called}; compute"
                " it in one unit, or leave it out of the means"
            )
        named = {key: _text(value) for key, value in zip(keys, of_group, strict=True) if pd.notna(value)}
        mean, low, high = mean_of(*(group[name].to_numpy() for name in ("estimate", "low", "high")))
        method = f"mean of {len(group)} {called} taken as given; MOVER, from the interval of each"
        facts = {"n": group["n"].sum(), "unit": units.iloc[0], "null": group["null"].mean(), "method": method}
        yield tidy.row(study, {"source": "here", averaged: name, **named}, metric, mean, low=low, high=high, **facts)


def published(
    study: str, entries: Sequence[Mapping[str, Any]], ours: pd.DataFrame, several: str = "metric"
) -> Iterator[dict[str, Any]]:
    """Tidy rows of numbers as printed in a paper, with the key `source` = paper.

    entries: keys of a setting, the metric, and the number `printed`; or several numbers, by value of the key `several`.
    ours: tidy results of the study, whose units its metrics have.
    """
    units = dict(zip(ours["metric"], ours["unit"], strict=True))
    for entry in entries:
        keys = {"source": "paper", **entry}
        printed = keys.pop("printed")
        for name, number in printed.items() if isinstance(printed, Mapping) else [(None, printed)]:
            own = keys | ({several: name} if name else {})
            metric = own.pop("metric")
            yield tidy.row(study, own, metric, number, unit=units.get(metric, "fraction"), method=AS_PRINTED)


def _text(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
