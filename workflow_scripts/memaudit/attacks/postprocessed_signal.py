"""Post-processed signal (Jälkö et al. 2026, Section 4.2): every record's OUT distribution on one scale."""

import numpy as np

from memaudit.attacks.lira import Block, score_blocks
from memaudit.attacks.shadow_sides import Leave
from memaudit.common.arrays import Array, Floats, Mask


def postprocess(
    signals: Floats, membership: Mask, *, convention: str = "mean", floor: float = 0.0, leave: Leave = "pair"
) -> Array:
    """sign(mu_in - mu_out) (s - mu_out) / sigma_out (Eq. 21), every fit without the target's own value.

    signals, membership: (model, record); leave: what a target's fits do without, see `Leave`. With convention "ddof1"
    an OUT value of a Gaussian record is distributed as t_{n-1} sqrt(1 + 1/n), n its OUT shadow models, and nothing is
    fitted. Returns (model, record).
    Raises AuditError where a record has fewer than 2 shadow models on one side.
    """
    return score_blocks(signals, membership, standardise, convention=convention, floor=floor, leave=leave)


def standardise(block: Block) -> Array:
    """Post-processed signals (model, record) of some records, from their fits."""
    direction = np.sign(block.inside.centre - block.outside.centre)
    return direction * block.outside.standardise(block.values)
