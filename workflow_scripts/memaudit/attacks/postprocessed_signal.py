"""Post-processed signal (Jälkö et al. 2026, Section 4.2): every record's OUT distribution on one scale."""

import numpy as np

from memaudit.arrays import Array, Mask
from memaudit.attacks.gaussian import CONVENTIONS, Leave, fit_without_target, require_shadows


def postprocess(
    signals: Array, design: Mask, *, convention: str = "mean", floor: float = 0.0, leave: Leave = "pair"
) -> Array:
    """sign(mu_in - mu_out) (s - mu_out) / sigma_out (Eq. 21), every fit without the target's own value.

    signals: (model, record); design: (model, record); leave: what a target's fits do without, see `Leave`. With
    convention "ddof1" an OUT value of a Gaussian record is distributed as t_{n-1} sqrt(1 + 1/n), n its OUT shadow
    models, and nothing is fitted. Returns (model, record).
    Raises AuditError where a record has fewer than 2 shadow models on one side.
    """
    require_shadows(design)
    rule = CONVENTIONS[convention]
    inside = fit_without_target(signals, design, rule, floor=floor, leave=leave)
    outside = fit_without_target(signals, ~design, rule, floor=floor, leave=leave)
    return np.sign(inside.centre - outside.centre) * outside.standardise(signals)
