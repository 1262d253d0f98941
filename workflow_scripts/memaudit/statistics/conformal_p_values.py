"""Conformal p-values of texts or records against known non-members, and what a number of these can detect."""

import math

import numpy as np

from memaudit.common.arrays import Array
from memaudit.common.errors import AuditError


def conformal_p_values(scores: Array, known: Array) -> Array:
    """P-values (text,) that texts are no members: (1 + #{known non-members with such a score or higher}) / (1 + n).

    scores: (text,), higher = more likely a member; known: (n,) scores of known non-members. Where a text that is no
    member is exchangeable with those, its p-value is at most a with probability at most a, for every a and any score
    (Vovk et al. 2005). P-values from one set of known non-members are positively dependent (PRDS): Benjamini and
    Hochberg's procedure controls their false discovery rate (Bates et al. 2023, Theorem 2). Raises AuditError without
    a known non-member, and for scores that are not numbers.
    """
    if not len(known) or np.isnan(known).any() or np.isnan(scores).any():
        raise AuditError(f"conformal p-values: {len(known)} known non-members; give at least one, and scores of all")
    return (1 + len(known) - np.searchsorted(np.sort(known), scores, side="left")) / (1 + len(known))


def fewest_detections(texts: int, known: int, rate: float) -> int:
    """Smallest number of texts that Benjamini and Hochberg's procedure can detect among `texts` at `rate`.

    So many must have the smallest p-value, 1 / (1 + known); a number above `texts` says that nothing can be detected.
    """
    return max(1, math.ceil(round(texts / (rate * (1 + known)), 9)))
