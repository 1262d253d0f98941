"""Results of attacks on students that may be constant, which are not judged.

What an attack finds on a student that answers alike whatever the records says nothing. Its utility counts: a comparison
of methods without it would keep the successes of each alone.
"""

import pandas as pd
from scipy.stats import binom

from memaudit.common.constant_students import CONSTANT, rests_on_constant

UTILITY = ("accuracy", "balanced accuracy", "nrmse")
LEVEL = 0.05  # of the test that fewer than half of the students of a condition are constant


def vacuous(table: pd.DataFrame) -> pd.Series:
    """Whether each row of expanded tidy results is of an attack on a condition whose students may be constant.

    They may be where one is, unless an exact binomial test over repeats shows that fewer than half are: an attack on a
    minority of constant students is weaker by their share, and more repeats do not leave more conditions out.
    """
    few = (table["metric"] == CONSTANT) & (binom.cdf(table["estimate"], table["n"], 0.5) <= LEVEL)
    constant = rests_on_constant(table[~few]).reindex(table.index, fill_value=False)
    return constant & ~is_utility(table)


def is_utility(table: pd.DataFrame) -> pd.Series:
    """Whether each row of expanded tidy results is a utility of students, or a difference of two."""
    return table["metric"].str.removesuffix(" difference").isin(UTILITY)
