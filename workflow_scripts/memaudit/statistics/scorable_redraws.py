"""Redraws of a membership matrix by its own scheme, of those that can be scored where the observed one can.

Whether a matrix can be scored depends on the matrix alone. Given that, it and its redraws are exchangeable under the
null hypotheses of `randomisation_tests`, so that tests stay exact.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from memaudit.attacks.gaussian import least_shadows
from memaudit.common.arrays import Mask
from memaudit.common.errors import AuditError
from memaudit.data.membership_matrices import Scheme

MOST_REDRAWS = 1000  # for one that can be scored


def redraw(
    scheme: Scheme,
    membership: Mask,
    units: NDArray[np.int64] | None,
    rng: np.random.Generator,
    groups: Sequence[Mask] = (),
) -> Mask:
    """A redraw of the membership matrix (model, record) that can be scored where the observed one can.

    A matrix of models of fixed size, redrawn, may leave a record with fewer than 2 shadow models on a side, or one of
    the `groups` (record,) without members or non-members. Only redraws that are like the observed one in this are kept:
    given that, all of them are as likely as it. Raises AuditError where none is found.
    """
    if scheme.keeps == "columns":
        # Every record keeps its number of models.
        return scheme.redraw(membership, units, rng)
    observed = _scorable(membership, groups)
    for _ in range(MOST_REDRAWS):
        if _scorable(redrawn := scheme.redraw(membership, units, rng), groups) == observed:
            return redrawn
    raise AuditError(
        f"of {MOST_REDRAWS} redraws of {len(membership)} models of fixed size none has shadow models for the same"
        " records as the observed one: raise the number of models"
    )


def _scorable(membership: Mask, groups: Sequence[Mask]) -> list[bool]:
    mixed = [0 < np.count_nonzero(part := membership[:, group]) < part.size for group in groups]
    return [bool((least_shadows(membership) >= 2).all()), *mixed]
