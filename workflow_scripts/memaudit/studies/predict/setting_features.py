"""What a learned predictor of memorization reads of a setting: normal scores, truth and costs of natural records."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import xarray as xr

from memaudit.attacks.learned_memorization import ALL, EARLIER, ONE_CHECKPOINT, tied_normal_scores
from memaudit.common.arrays import Array, Mask
from memaudit.statistics.attack_performance import Estimate
from memaudit.studies.predict.ground_truth import log_lira
from memaudit.studies.predict.natural_truth import NaturalTruth, targets_first
from memaudit.studies.predict.prediction_metrics import FEWEST_OF_CLASS, Entries
from memaudit.studies.predict.target_scores import AT_STOP


@dataclass(frozen=True)
class SettingFeatures:
    """A setting's predictors at the interruption, and which natural records its targets have memorized at the end.

    source: its data, which settings may share; normal: by name (target, record) normal scores among the target's own
    records; psmi: (target, record) minus PSMI in nats; judged: entries of natural own records; share: memorized share
    of these, null: that of non-members; beyond: lower end of `prediction_metrics.beyond_chance`; drops: (target,) fall
    of the median loss; models: behind the truth; seconds: of training and one query (`base`), of queries of earlier
    checkpoints (`earlier`), and of scoring one target by `psmi`, `mahalanobis` and `features`.
    """

    name: str
    source: str
    normal: Mapping[str, Array]
    psmi: Array
    judged: Entries
    share: Estimate
    beyond: float
    drops: Array
    models: int
    seconds: Mapping[str, float]

    @property
    def refusal(self) -> str:
        """Why the setting cannot be judged; empty if it can."""
        sides = [len(np.unique(self.judged.group[side])) for side in (self.judged.memorized, ~self.judged.memorized)]
        if min(sides) < FEWEST_OF_CLASS:
            return f"not judged: {sides[0]} memorized natural records and {sides[1]} others; each must be at least 10"
        if not self.beyond > 0:
            share, chance = self.share.estimate, self.share.null
            return f"not judged: by chance {chance:.2g} are memorized, too near the share of {share:.2g}"
        return ""

    def values(self, name: str) -> Array:
        """Normal scores of the judged entries, (entry,)."""
        return self.normal[name][self.judged.target, self.judged.record]

    def cost(self, features: tuple[str, ...]) -> float:
        """CPU seconds of predictors: training up to the interruption, queries and scoring, for one target."""
        parts = {"base"} | ({"earlier"} if set(features) & set(EARLIER) else set())
        parts |= set(features) & {"psmi", "mahalanobis"}
        # Neighbours take nearly all of the time of the features that are computed together.
        parts |= {"features"} if set(features) & (set(AT_STOP) & set(ONE_CHECKPOINT)) else set()
        return sum(self.seconds[part] for part in parts)


def setting_features(
    records: xr.Dataset,
    scores: xr.Dataset,
    signals: xr.Dataset,
    source: str,
    *,
    memorized: float,
    replicates: int,
    seed: int,
) -> SettingFeatures:
    """A setting from its records, scores at the interruption, and signals of all models.

    memorized: least log-LiRA of a memorized record. Raises AuditError where models are missing.
    """
    stops, order = scores.interruption.values.astype(int), targets_first(records, scores, signals)
    membership, targets = records.membership.values.astype(bool)[order], len(stops)
    member, natural = membership[:targets], ~(records.mislabelled.values | records.canary.values).astype(bool)
    lira = log_lira(signals.gap.values[order, -1], membership, targets)
    parts = member, natural, records.unit.values
    truth = NaturalTruth(records.case, lira, *parts, memorized, replicates, seed)
    raw = {name: _at_stop(scores[name].values, stops) for name in ALL}
    return SettingFeatures(
        name=records.case,
        source=source,
        normal={name: _normal(values, member) for name, values in raw.items()},
        psmi=raw["psmi"],
        judged=truth.judged,
        share=truth.share(),
        beyond=truth.beyond_chance.low,
        drops=scores.fallen.values,
        models=len(order),
        seconds=_seconds(scores, signals, stops, float(membership.sum(1).mean())),
    )


def _at_stop(values: Array, stops: Array) -> Array:
    """Scores (target, record) of (target, record), or at each target's checkpoint of (target, checkpoint, record)."""
    return values if values.ndim == 2 else values[np.arange(len(stops)), stops]


def _normal(values: Array, member: Mask) -> Array:
    normal = np.full(values.shape, np.nan)
    for row, of_target, own in zip(normal, values, member, strict=True):
        row[own] = tied_normal_scores(of_target[own])
    return normal


def _seconds(scores: xr.Dataset, signals: xr.Dataset, stops: Array, size: float) -> dict[str, float]:
    """Mean CPU seconds for one target; size: records that a model is trained on."""
    spent = {name: float(signals[name].sum()) for name in ("training_seconds", "trained", "query_seconds", "queried")}
    trained, queried = spent["training_seconds"] / spent["trained"], spent["query_seconds"] / spent["queried"]
    epochs = float(signals.checkpoint.values[stops].mean())
    psmi, both = (float(_at_stop(scores[name].values, stops).mean()) for name in ("psmi_seconds", "seconds"))
    return {
        "base": size * (epochs * trained + queried),
        # The untrained model is not queried.
        "earlier": size * queried * float(np.maximum(stops - 1, 0).mean()),
        "psmi": psmi,
        "mahalanobis": both - psmi,
        "features": float(scores.feature_seconds.mean()),
    }
