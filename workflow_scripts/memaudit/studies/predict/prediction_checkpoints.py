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

LATER = 0.6  # of training
UNTRAINED, INPUTS = "psmi_untrained", "psmi_inputs"  # PSMI without training, which costs nothing
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
    second_half: (model,) whether a model is in the second block of the balanced membership matrix;
    predictors: by name (target, checkpoint, record), of the last layer; layers: by name (target, layer, record), at the
    interruption; inputs: PSMI of the records as the network reads them (target, record); rule: `first` or `closest`;
    drop: fall of the median loss that interrupts; tolerance: how much less is accepted; mislabelled, canary, unit:
    (record,), the last its privacy unit.
    """

    name: str
    epochs: Array
    gap: Array
    loss: Array
    membership: Mask
    second_half: Mask
    predictors: Mapping[str, Array]
    layers: Mapping[str, Array]
    inputs: Array
    rule: str
    drop: float
    tolerance: float
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

    @property
    def natural(self) -> Mask:
        """Records that nobody planted, (record,): they carry the results."""
        return ~(self.mislabelled | self.canary)

    @cached_property
    def lira(self) -> Array:
        """Log-LiRA at every checkpoint, (checkpoint, target, record)."""
        checkpoints = self.gap.transpose(1, 0, 2)
        return np.stack([log_lira(gap, self.membership, self.targets) for gap in checkpoints])

    @cached_property
    def interruptions(self) -> list[Interruption]:
        """Checkpoints at which the training of each model may be interrupted."""
        return interruptions(self.loss, self.membership, self.drop)

    def places(self, rule: str) -> list[int | None]:
        """Checkpoint of each model at which a rule interrupts it, None where its loss fell too little."""
        return by_rule(self.interruptions, rule, self.drop - self.tolerance)

    @cached_property
    def stopped(self) -> Codes:
        """Checkpoint of each target by the setting's own rule. Raises AuditError where the loss never fell so far."""
        if None in (places := self.places(self.rule)[: self.targets]):
            raise AuditError(f"predict/settings/{self.name}: a target's loss fell too little; leave it out")
        return np.array(places)

    @property
    def later(self) -> Codes:
        """The checkpoint closest to 60 % of training, of each target (Appendix D: epoch 0.6 of 1, Figure 8)."""
        place = int(np.argmin(np.abs(self.epochs[:-1] - LATER * self.epochs[-1])))
        return np.full(self.targets, place)

    def at(self, checkpoints: Codes) -> dict[str, Array]:
        """Every predictor, and the baseline, at a checkpoint of each target, by name (target, record)."""
        targets = np.arange(self.targets)
        scores = {name: values[targets, checkpoints] for name, values in self.predictors.items()}
        return scores | {BASELINE: self.lira[checkpoints, targets]}

    @property
    def references(self) -> dict[str, Array]:
        """PSMI without training, by name (target, record): of the untrained network's states, and of its inputs."""
        return {UNTRAINED: self.predictors["psmi"][:, 0], INPUTS: self.inputs}


def interruptions(loss: Array, member: Mask, drop: float) -> list[Interruption]:
    """`interruption` of each model. loss: (model, checkpoint, record); member: (model, record)."""
    return [interruption(of_model[:, own], drop) for of_model, own in zip(loss, member, strict=True)]


def by_rule(candidates: Sequence[Interruption], rule: str, least: float) -> list[int | None]:
    """Checkpoint of each model: the `first` beyond the drop, or the `closest` to it; None where it fell below `least`.

    A later one is accepted however far the loss has fallen there: the paper's own settings stand at up to 99.5 %.
    """
    places = [one.first if rule == "first" else one.closest for one in candidates]
    return [
        place if place is not None and one.drops[place] >= least else None
        for one, place in zip(candidates, places, strict=True)
    ]


def interrupted(candidates: Sequence[Interruption], rule: str, name: str, drop: float, tolerance: float) -> Codes:
    """Targets (target,) with a checkpoint to predict from, for setting `name`; their loss fell to `drop` - `tolerance`.

    The others are left out: what was measured early in their training is not the prediction that the paper describes.
    Raises AuditError where there is none.
    """
    places = by_rule(candidates, rule, drop - tolerance)
    if kept := [target for target, place in enumerate(places) if place is not None]:
        return np.array(kept)
    most = max(float(one.drops[:-1].max()) for one in candidates)
    raise AuditError(
        f"predict/settings/{name}: the median training loss of a target falls by {most:.3%} at most before the end, not"
        f" by {drop:.3%} (predict/tolerance: {tolerance:g}); train longer or faster, take more checkpoints, or lower"
        " `drop` of the setting"
    )
