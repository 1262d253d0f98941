"""Results of students that are constant, or were taught fewer labels than classes, which are marked in tables."""

from collections.abc import Iterator

import pandas as pd

CONSTANT = "constant students"  # metric: repeats of a condition with such a student
ATTACKED = "constant shadow students"  # metric: shadow contexts of a condition whose student gives one answer


def rests_on_constant(table: pd.DataFrame) -> pd.Series:
    """Whether each row of expanded tidy results is about a condition with a constant student in any repeat."""
    return of_conditions(table, table[(table["metric"] == CONSTANT) & (table["estimate"] > 0)])


def of_conditions(table: pd.DataFrame, others: pd.DataFrame) -> pd.Series:
    """Whether each row of expanded tidy results is about a condition of the other rows.

    A condition is a data set, an arm and an epsilon; a row of arm "a - b" is about both, each at the row's epsilon or
    without privacy (an infinite one).
    """
    if others.empty:
        return pd.Series(False, index=table.index)
    keys = ["dataset", "arm", "epsilon"]
    wanted = set(others[keys].astype({"epsilon": float}).itertuples(index=False, name=None))
    return pd.Series([not wanted.isdisjoint(_conditions(*row)) for row in table[keys].values], index=table.index)


def _conditions(dataset: str, arm: str, epsilon: float) -> Iterator[tuple[str, str, float]]:
    for one in str(arm).split(" - "):
        yield dataset, one, float(epsilon)
        yield dataset, one, float("inf")
