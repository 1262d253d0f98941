"""Checkpoint at which the training of each model is interrupted, and the measurements of a setting at its checkpoints.

"Predicting memorization within LLMs fine-tuned for classification", Sections 4.2 and 4.3 and Appendix E.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from memaudit.common.arrays import Array, Codes, Mask
from memaudit.common.errors import AuditError
from memaudit.studies.predict.ground_truth import log_lira

BASELINE = "lira"  # on the partly trained model (Biderman et al. 2023, adapted in Section 5.1)


@dataclass(frozen=True)
class Interruption:
    """Checkpoints at which training may be interrupted.

    drops: (checkpoint,) fall of the median training loss since the first checkpoint, as a share of it; first: the first
    checkpoint where it reaches the required drop, None if it never does; closest: the one nearest to it (Appendix E).
    Neither is the last checkpoint, where nothing is left to predict.
    """

    drops: Array
    first: int | None
    closest: int


def interruption(losses: Array, drop: float) -> Interruption:
    """Checkpoints at which training may be interrupted.

    losses: (checkpoint, record) of the training records, 2 checkpoints or more, the first before training; drop:
    required fall of their median, as a share of it. Raises AuditError where the first median is no positive number.
    """
    medians = np.median(losses, axis=1)
    if not medians[0] > 0:
        raise AuditError(
            f"interruption: the median loss before training is {medians[0]:g}, so it cannot fall by a share; give the"
            " cross-entropies of an untrained model"
        )
    drops = 1 - medians / medians[0]
    before = drops[:-1]
    reached = np.flatnonzero(before >= drop)
    return Interruption(drops, int(reached[0]) if reached.size else None, int(np.argmin(np.abs(before - drop))))


@dataclass(frozen=True)
class MeasuredSetting:
    """A setting: its models, targets first, and the measurements at every checkpoint.

    epochs: (checkpoint,); gap, loss: (model, checkpoint, record) logit gaps and losses; membership: (model, record);
    predictors: by name (target, checkpoint, record), of the last layer; layers: by name (target, layer, record), at the
    interruption; rule: `first` or `closest`; drop: fall of the median loss that interrupts; mislabelled, canary, unit:
    (record,), the last its privacy unit.
    """

    name: str
    epochs: Array
    gap: Array
    loss: Array
    membership: Mask
    predictors: Mapping[str, Array]
    layers: Mapping[str, Array]
    rule: str
    drop: float
    mislabelled: Mask
    canary: Mask
    unit: Codes

    @property
    def targets(self) -> int:
        """Number of targets."""
        return len(next(iter(self.predictors.values())))

    @property
    def member(self) -> Mask:
        """Training records of each target, (target, record)."""
        return self.membership[: self.targets]

    @cached_property
    def lira(self) -> Array:
        """Log-LiRA at every checkpoint, (checkpoint, target, record)."""
        checkpoints = self.gap.transpose(1, 0, 2)
        return np.stack([log_lira(gap, self.membership, self.targets) for gap in checkpoints])

    @cached_property
    def interruptions(self) -> list[Interruption]:
        """Checkpoints at which the training of each model may be interrupted."""
        return interruptions(self.loss, self.membership, self.drop)

    @cached_property
    def stopped(self) -> Codes:
        """Checkpoint of each target by the setting's own rule. Raises AuditError where the loss never fell so far."""
        return stopped(self.interruptions[: self.targets], self.rule, self.name, self.drop)

    def at(self, checkpoints: Codes) -> dict[str, Array]:
        """Every predictor, and the baseline, at a checkpoint of each target, by name (target, record)."""
        targets = np.arange(self.targets)
        scores = {name: values[targets, checkpoints] for name, values in self.predictors.items()}
        return scores | {BASELINE: self.lira[checkpoints, targets]}


def interruptions(loss: Array, member: Mask, drop: float) -> list[Interruption]:
    """`interruption` of each model. loss: (model, checkpoint, record); member: (model, record)."""
    return [interruption(of_model[:, own], drop) for of_model, own in zip(loss, member, strict=True)]


def by_rule(candidates: Sequence[Interruption], rule: str) -> list[int | None]:
    """Checkpoint of each model: the `first` beyond the drop, None where its loss fell less, or the `closest` to it."""
    return [one.first if rule == "first" else one.closest for one in candidates]


def stopped(candidates: Sequence[Interruption], rule: str, name: str, drop: float) -> Codes:
    """`by_rule`, for setting `name`. Raises AuditError where there is no checkpoint to predict from."""
    places = by_rule(candidates, rule)
    if None in places:
        most = min(float(one.drops.max()) for one in candidates)
        raise AuditError(
            f"predict/settings/{name}: the median training loss of a target falls by {most:.3%} at most, not by"
            f" {drop:.3%}; train longer or faster, set `interrupt: closest`, or lower predict/drop"
        )
    return np.array(places)
