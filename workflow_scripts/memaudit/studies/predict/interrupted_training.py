"""A setting of study `predict` as it is judged: its models, and where the training of each is interrupted.

papers/predicting-memorization.md, Sections 4.2 and 4.3 and Appendix E.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from memaudit.arrays import Array, Codes, Mask
from memaudit.errors import AuditError
from memaudit.studies.predict import ground_truth

BASELINE = "lira"  # on the partly trained model (Biderman et al. 2023, adapted in Section 5.1)


@dataclass(frozen=True)
class Case:
    """A setting: its models, targets first, and what was measured at every checkpoint.

    epochs: (checkpoint,); gap, loss: (model, checkpoint, record) logit gaps and losses; design: (model, record);
    predictors: by name (target, checkpoint, record), of the last layer; layers: by name (target, layer, record), at the
    interruption; rule: `first` or `closest`; drop: fall of the median loss that interrupts; mislabelled, canary, unit:
    (record,).
    """

    name: str
    epochs: Array
    gap: Array
    loss: Array
    design: Mask
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
        """Who was trained on, (target, record)."""
        return self.design[: self.targets]

    @cached_property
    def lira(self) -> Array:
        """Log-LiRA at every checkpoint, (checkpoint, target, record)."""
        checkpoints = self.gap.transpose(1, 0, 2)
        return np.stack([ground_truth.log_lira(gap, self.design, self.targets) for gap in checkpoints])

    @cached_property
    def stops(self) -> list[ground_truth.Interruption]:
        """Where the training of each model is interrupted."""
        return stops(self.loss, self.design, self.drop)

    @cached_property
    def stopped(self) -> Codes:
        """Checkpoint of each target by the setting's own rule. Raises AuditError where the loss never fell so far."""
        return stopped(self.stops[: self.targets], self.rule, self.name, self.drop)

    def at(self, checkpoints: Codes) -> dict[str, Array]:
        """Every predictor, and the baseline, at a checkpoint of each target, by name (target, record)."""
        who = np.arange(self.targets)
        found = {name: scores[who, checkpoints] for name, scores in self.predictors.items()}
        return found | {BASELINE: self.lira[checkpoints, who]}


def stops(loss: Array, member: Mask, drop: float) -> list[ground_truth.Interruption]:
    """Where the training of each model is interrupted. loss: (model, checkpoint, record); member: (model, record)."""
    return [ground_truth.interruption(of[:, own], drop) for of, own in zip(loss, member, strict=True)]


def by_rule(found: Sequence[ground_truth.Interruption], rule: str) -> list[int | None]:
    """Checkpoint of each model, the `first` beyond the drop or the `closest` to it; None where its loss fell less."""
    return [stop.first if rule == "first" else stop.closest for stop in found]


def stopped(found: Sequence[ground_truth.Interruption], rule: str, name: str, drop: float) -> Codes:
    """`by_rule`, for setting `name`. Raises AuditError where there is no checkpoint to predict from."""
    places = by_rule(found, rule)
    if None in places:
        most = min(float(stop.drops.max()) for stop in found)
        raise AuditError(
            f"predict/settings/{name}: the median training loss of a target falls by {most:.3%} at most, not by"
            f" {drop:.3%}; train longer or faster, say `interrupt: closest`, or lower predict/drop"
        )
    return np.array(places)
