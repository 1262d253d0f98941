"""Results of students that are constant, or were taught fewer labels than classes, which are marked in tables."""

from collections.abc import Iterator

import pandas as pd

# Metric of the number of repeats of a condition with such a student.
CONSTANT = "constant students"


def rests_on_constant(table: pd.DataFrame) -> pd.Series:
    """Whether each row of expanded tidy results is about a condition with a constant student in any repeat.

    A condition is a data set, an arm and an epsilon; a row of arm "a - b" is about both, each at the row's epsilon or
    without privacy (an infinite one). Rows of the metric `CONSTANT` decide.
    """
    found = table[(table["metric"] == CONSTANT) & (table["estimate"] > 0)]
    if found.empty:
        return pd.Series(False, index=table.index)
    keys = ["dataset", "arm", "epsilon"]
    constant = set(found[keys].astype({"epsilon": float}).itertuples(index=False, name=None))
    return pd.Series([not constant.isdisjoint(_conditions(*row)) for row in table[keys].values], index=table.index)


def _conditions(dataset: str, arm: str, epsilon: float) -> Iterator[tuple[str, str, float]]:
    for one in str(arm).split(" - "):
        yield dataset, one, float(epsilon)
        yield dataset, one, float("inf")
