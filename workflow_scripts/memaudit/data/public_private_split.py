"""Split into private records, records held out as public for methods that need some, and test records."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from memaudit.data.member_splits import MEMBERS, split_records

PRIVATE, HELD_OUT, TEST = "private", "held out", "test"


def roles(records: pd.DataFrame, settings: Mapping[str, Any], rng: np.random.Generator) -> NDArray[np.str_]:
    """Draw the role of each record (record,), by privacy unit and stratified by the target; "" for one not drawn.

    settings: test, share of the units; held_out, share of the remaining units; max_records, None for all.
    """
    split = {"max_records": settings["max_records"], "balance": False}
    sides = split_records(records, split | _shares(settings["test"]), rng).set_index("id")["side"]
    members = records[records["id"].map(sides).eq(MEMBERS).to_numpy()]
    private = split_records(members, {"max_records": None, "balance": False} | _shares(settings["held_out"]), rng)
    side, part = records["id"].map(sides).astype(object), records["id"].map(private.set_index("id")["side"])
    role = np.where(part.eq(MEMBERS), PRIVATE, HELD_OUT)
    return np.where(side.isna(), "", np.where(side.eq(MEMBERS), role, TEST)).astype(str)


def nominal_private(records: int, settings: Mapping[str, Any], held_out: bool) -> int:
    """Nominal number of private records of a split as of `roles`, from public numbers alone; at least 1.

    records: nominal number of the whole table; held_out: without the held-out records. The size of the split itself
    would be private: classes and units are split one by one, and each rounds.
    """
    kept = min(filter(None, (records, settings["max_records"]))) * (1 - settings["test"])
    return max(1, round(kept * (1 - settings["held_out"] if held_out else 1)))


def _shares(nonmembers: float) -> dict[str, float]:
    return {"members": 1 - nonmembers, "nonmembers": nonmembers}
