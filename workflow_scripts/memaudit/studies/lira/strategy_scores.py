"""Scores of every target that the aggregation strategies threshold, a record's entries together in memory."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from memaudit.attacks.gaussian import CONVENTIONS, fit, least_shadows
from memaudit.attacks.lira import columns, fitted_blocks, record_blocks
from memaudit.attacks.postprocessed_signal import standardise
from memaudit.common.arrays import Array32, Floats, Indices, Mask
from memaudit.common.errors import AuditError

MOST_LEFT_OUT = 0.1


@dataclass(frozen=True)
class StrategyScores:
    """Leave-one-out scores of every target, (record, model).

    ratio: log-likelihood ratios; standard: post-processed signals; member: True = IN; shadows: (record,) OUT models of
    the fits, one more than an OUT target meets; kept: (record,) places in the matrix of the records with enough shadow
    models, left_out: how many others there are.
    """

    ratio: Array32
    standard: Array32
    member: Mask
    shadows: Indices
    kept: Indices
    left_out: int

    def first(self, models: int) -> "StrategyScores":
        """The same fits, the first models alone as targets."""
        return replace(
            self, ratio=self.ratio[:, :models], standard=self.standard[:, :models], member=self.member[:, :models]
        )

    def blocks(self) -> Iterator[slice]:
        """Slices of records that fit a core's cache."""
        return record_blocks(*self.member.shape)


def enough_shadows(membership: Mask) -> Indices:
    """Places of the records with at least 2 shadow models on each side, (record,).

    Raises AuditError where more than a tenth of the records has fewer.
    """
    kept = np.flatnonzero(least_shadows(membership) >= 2)
    if len(kept) < (1 - MOST_LEFT_OUT) * membership.shape[1]:
        raise AuditError(
            f"{membership.shape[1] - len(kept)} of {membership.shape[1]} records have fewer than 2 shadow models on one"
            f" side among {len(membership)} models: raise lira.models"
        )
    return kept


def score(signals: Floats, membership: Mask, floor: float = 0.0) -> StrategyScores:
    """Log-likelihood ratio and post-processed signal of every model as target, the target alone left out."""
    kept = enough_shadows(membership)
    shape = (len(kept), len(membership))
    ratio, standard = np.empty(shape, np.float32), np.empty(shape, np.float32)
    member = np.empty(shape, np.bool_)
    for block in fitted_blocks(signals, membership, floor=floor, leave="self", records=kept):
        ratio[block.records], member[block.records] = block.ratio.T, block.member.T
        standard[block.records] = standardise(block).T
    return StrategyScores(ratio, standard, member, (~member).sum(1), kept, membership.shape[1] - len(kept))


def halves(models: int) -> tuple[slice, slice]:
    """The first and the second half of the models."""
    return slice(0, models // 2), slice(models // 2, models)


def crossfit_ratio(signals: Floats, membership: Mask, records: Indices, models: int, floor: float = 0.0) -> Array32:
    """Log-likelihood ratios (record, model) of the first models, each half fitted on all models outside that half.

    signals, membership: (model, record), with more models than targets under oracle access; records: places of those
    that are scored. All targets of a half and a record meet the same two Gaussians, so that without a leak its scores
    are exchangeable, which leave-one-out scores are not. NaN where a side has fewer than 2 models outside a half.
    """
    ratio = np.empty((len(records), models), np.float32)
    for block in record_blocks(len(records), len(membership)):
        values, member = columns(signals, membership, records[block])
        for half in halves(models):
            others = np.ones(len(membership), np.bool_)
            others[half] = False
            shadows, of_side = values[others], member[others]
            with np.errstate(invalid="ignore"):
                inside, outside = (fit(shadows, side, CONVENTIONS["mean"], floor=floor) for side in (of_side, ~of_side))
                scores = inside.log_density(values[half]) - outside.log_density(values[half])
            few = np.minimum(of_side.sum(0), (~of_side).sum(0)) < 2
            ratio[block, half] = np.where(few, np.nan, scores).T
    return ratio
