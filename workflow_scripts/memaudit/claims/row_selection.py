"""Selection of rows of expanded tidy results by metric and keys, for claims and headlines."""

from collections.abc import Mapping
from typing import Literal

import numpy as np
import pandas as pd
from pydantic import BaseModel, ConfigDict

Scalar = bool | int | float | str
ANY = "any"
POSITION = {"smallest": 0, "second_largest": -2, "largest": -1}


class Strict(BaseModel):
    """A part of a claim or of a headline: unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Range(Strict):
    """Both bounds included, either may be left out."""

    at_least: float = -np.inf
    at_most: float = np.inf


class Other(Strict):
    """Every value but one."""

    other_than: Scalar


Wanted = Range | Other | list[Scalar] | Scalar | None


class Selection(Strict):
    """Rows of one metric. Keys of `where` tell the sides apart: pairs are not joined over them.

    A key's value is a scalar, a list, a range, all but one, null (rows without the key), or one of the words smallest,
    second_largest, largest: of the values there are; any: whatever it is, so that pairs are not joined over it.
    quantity: low, high and width are numbers without an interval of their own.
    """

    metric: str
    where: dict[str, Wanted] = {}
    quantity: Literal["estimate", "low", "high", "width"] = "estimate"


def select(rows: pd.DataFrame, selection: Selection, where: Mapping[str, Wanted]) -> pd.DataFrame:
    """Rows of expanded tidy results that a selection means, where other keys have these values too."""
    rows = rows[rows["metric"] == selection.metric]
    # Words like largest are of the values that rows have which fulfil all other conditions.
    conditions = sorted((dict(where) | selection.where).items(), key=lambda one: _is_position(one[1]))
    for key, wanted in conditions:
        rows = rows[_matches(rows.reindex(columns=[key])[key], wanted)]
    return rows


def condition_text(key: str, wanted: Wanted) -> str:
    """A condition of `where` in words."""
    if isinstance(wanted, Range):
        bounds = wanted.model_dump(exclude_unset=True)
        return f"{key} " + " and ".join(f"{name.replace('_', ' ')} {bound:g}" for name, bound in bounds.items())
    if isinstance(wanted, Other):
        return f"{key} other than {wanted.other_than}"
    if isinstance(wanted, list):
        return f"{key} {' or '.join(map(str, wanted))}"
    return f"{key} none" if wanted is None else f"{key} {wanted}"


def _is_position(wanted: Wanted) -> bool:
    return isinstance(wanted, str) and wanted in POSITION


def _matches(column: pd.Series, wanted: Wanted) -> pd.Series:
    if wanted is None:
        return column.isna()
    if wanted == ANY:
        return pd.Series(True, index=column.index)
    if isinstance(wanted, Range):
        return column.between(wanted.at_least, wanted.at_most)
    if isinstance(wanted, Other):
        return column.notna() & ~_matches(column, wanted.other_than)
    return _equals(column, wanted)


def _equals(column: pd.Series, wanted: list[Scalar] | Scalar) -> pd.Series:
    if _is_position(wanted):
        present = sorted(column.dropna().unique())
        return column == (present[POSITION[wanted]] if present and len(present) >= -POSITION[wanted] else np.nan)
    choices = wanted if isinstance(wanted, list) else [wanted]
    if pd.api.types.is_numeric_dtype(column):
        return column.isin(choices)
    return column.astype(str).str.lower().isin([str(choice).lower() for choice in choices])
