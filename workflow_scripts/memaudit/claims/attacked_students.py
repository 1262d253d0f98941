"""Attacks that are not judged, since the attacked students may be constant.

What an attack finds on a student that answers alike whatever the records says nothing. Its utility counts: a comparison
of methods without it would keep the successes of each alone.
"""

import pandas as pd
from scipy.stats import binom

from memaudit.common.constant_students import ATTACKED, CONSTANT, of_conditions

UTILITY = ("accuracy", "balanced accuracy", "nrmse")
LEVEL = 0.05  # of the one-sided test that fewer than half of the attacked students of a condition are constant


def vacuous(table: pd.DataFrame) -> pd.Series:
    """Whether each row of expanded tidy results is no utility, of a condition whose attacked students may be constant.

    They may be where an exact binomial test over shadow contexts does not show that fewer than half are. Where shadow
    contexts were not counted, they may be if a student of any repeat is constant.
    """
    counted = table[table["metric"] == ATTACKED]
    constant = table[(table["metric"] == CONSTANT) & (table["estimate"] > 0)]
    constant = constant[~of_conditions(constant, counted)]
    return of_conditions(table, pd.concat([counted[~_few(counted)], constant])) & ~is_utility(table)


def is_utility(table: pd.DataFrame) -> pd.Series:
    """Whether each row of expanded tidy results is a utility of students, or a difference of two."""
    return table["metric"].str.removesuffix(" difference").isin(UTILITY)


def left_out_again(table: pd.DataFrame) -> float:
    """Probability that another run leaves out a condition that this one judges, by its shares of constant students.

    It is a sum over conditions, at most 1.
    """
    counted = table[table["metric"] == ATTACKED]
    judged = counted[_few(counted)]
    most = binom.ppf(LEVEL, judged["n"], 0.5) - 1
    return float(min(binom.sf(most, judged["n"], judged["estimate"] / judged["n"]).sum(), 1.0))


def _few(counted: pd.DataFrame) -> pd.Series:
    return pd.Series(binom.cdf(counted["estimate"], counted["n"], 0.5) <= LEVEL, index=counted.index, dtype=bool)
