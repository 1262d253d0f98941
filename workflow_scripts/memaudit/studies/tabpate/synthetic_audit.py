"""Empirical epsilon of the synthesizers, from refits with and without a canary (studies/tabpate/synthetic_shadows.py).

The bound of a correct synthesizer exceeds the promise in at most one run of twenty. So few refits cannot refute a large
epsilon: `largest epsilon bound` is that of a test without an error.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from memaudit.common import seeds, tidy
from memaudit.statistics.refit_bounds import audit_refits, largest_epsilon
from memaudit.studies.tabpate.student_utility import STUDY

CONDITIONS = ["epsilon", "noise", "member"]  # columns of refits; the others are scores


def audited(refits: pd.DataFrame, arm: str, delta: float, seed: int) -> Iterator[dict[str, Any]]:
    """Tidy rows of a synthesizer's refits: for each epsilon, noise and score the bound with its power.

    refits: of `synthetic_shadows.refits`, whose module needs a package that this one does without.
    """
    for (epsilon, noise), fits in refits.groupby(["epsilon", "noise"]):
        for score in fits.columns.drop(CONDITIONS):
            keys = {"arm": arm, "epsilon": f"{epsilon:g}", "attack": score, "noise": noise}
            yield from _rows(keys, fits[score].to_numpy(), fits["member"].to_numpy(), delta, seed)


def _rows(
    keys: dict[str, str], scores: np.ndarray, member: np.ndarray, delta: float, seed: int
) -> Iterator[dict[str, Any]]:
    # Only the halves are drawn with a seed: the refits are as they are.
    point = audit_refits(keys["attack"], scores, member, delta, seeds.generator(seed, STUDY, *keys.values()))
    most = largest_epsilon(int(member.sum()), int((~member).sum()), delta)
    common = {"n": len(scores), "method": point.method}
    bound, known = {"low": point.epsilon, "high": np.inf}, {"low": most, "high": most}
    yield tidy.row(STUDY, keys, "epsilon lower bound", point.epsilon, unit="nats", null=0.0, **bound, **common)
    yield tidy.row(STUDY, keys, "largest epsilon bound", most, unit="nats", null=0.0, **known, **common)
    yield tidy.row(STUDY, keys, "refuted", point.epsilon > float(keys["epsilon"]), unit="yes or no", **common)
    yield tidy.row(STUDY, keys, "audited tpr", point.tpr, low=point.tpr_low, **common)
    yield tidy.row(STUDY, keys, "audited fpr", point.fpr, high=point.fpr_high, **common)
