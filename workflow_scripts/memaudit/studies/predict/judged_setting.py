"""A measured setting with its truth, the entries that are judged, and tidy rows of what is judged on them.

"Predicting memorization within LLMs fine-tuned for classification", Section 5. Base of `predictor_evaluation` and
`truth_evaluation`. An entry is a target and one of its own training records. Results are of natural records; those of
all records, and of the planted ones (mislabelled, canaries), are rows of their own.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from memaudit.common import seeds, tidy
from memaudit.common.arrays import Array, Mask
from memaudit.statistics import bootstrap
from memaudit.statistics.attack_performance import Estimate, rows
from memaudit.studies.predict import prediction_metrics
from memaudit.studies.predict.natural_truth import NaturalTruth
from memaudit.studies.predict.prediction_checkpoints import BASELINE, MeasuredSetting
from memaudit.studies.predict.prediction_metrics import Entries

Rows = Iterator[dict[str, Any]]

STUDY = "predict"
OVER_MODELS = "Student's t over models"


@dataclass(frozen=True)
class JudgedSetting:
    """A setting and how it is judged.

    memorized: least log-LiRA of a memorized record; thresholds: others; fpr, tpr: rates; seed: of the run.
    """

    setting: MeasuredSetting
    memorized: float
    thresholds: Sequence[float]
    fpr: Sequence[float]
    tpr: Sequence[float]
    replicates: int
    seed: int

    @property
    def entries(self) -> Entries:
        """The entries with the main truth: natural records, memorized at the end of training."""
        return self.natural_truth.judged

    @cached_property
    def natural_truth(self) -> NaturalTruth:
        """Which records are memorized at the end of training, of natural ones."""
        setting = self.setting
        parts = setting.member, setting.natural, setting.unit
        return NaturalTruth(setting.name, setting.lira[-1], *parts, self.memorized, self.replicates, self.seed)

    @property
    def outside(self) -> Entries:
        """The same of natural records that a target was not trained on."""
        return self.natural_truth.outside

    @property
    def truth(self) -> Mask:
        """Whether a record is memorized at the end of training, (target, record)."""
        return self.natural_truth.memorized

    @property
    def final(self) -> Array:
        """Logit gaps at the end of training, (model, record)."""
        return self.setting.gap[:, -1]

    @property
    def all_thresholds(self) -> list[float]:
        """Log-LiRAs from which a record counts as memorized, that of the truth among them."""
        return sorted({self.memorized, *self.thresholds})

    @cached_property
    def stopped(self) -> dict[str, Array]:
        """Every predictor at the interruption, by name (target, record)."""
        return self.setting.at(self.setting.stopped)

    @cached_property
    def with_planted(self) -> Entries:
        """The entries with the main truth, planted records among them."""
        return self.cells(self.truth, self.setting.member)

    @cached_property
    def planted(self) -> dict[str, Entries]:
        """Entries with the planted truths, if any."""
        member, planted = self.setting.member, {"mislabelled": self.setting.mislabelled, "canary": self.setting.canary}
        return {name: self.cells(member & flag, member) for name, flag in planted.items() if flag.any()}

    def cells(self, memorized: Mask, member: Mask) -> Entries:
        """The entries of `member` (target, record), all under common bootstrap weights."""
        return self.natural_truth.entries(memorized, member)

    def rates(self, scores: Mapping[str, Array], entries: Entries, keys: Mapping[str, Any]) -> Rows:
        """Rows of every metric of the predictors, and of each less the baseline's."""
        options = {"reference": BASELINE, "fprs": self.fpr, "tprs": self.tpr}
        for name, estimates in prediction_metrics.judge(scores, entries, **options).items():
            yield from self.rows(keys | {"predictor": name}, estimates)

    def areas(self, scores: Mapping[str, Array], entries: Entries, keys: Mapping[str, Any]) -> Rows:
        """Rows of the predictors' AUCs."""
        for name, estimates in prediction_metrics.judge(scores, entries, fprs=(), tprs=()).items():
            yield from self.rows(keys | {"predictor": name}, estimates)

    def rows(self, keys: Mapping[str, Any], estimates: Sequence[Estimate]) -> Rows:
        """Tidy rows of estimates of this setting."""
        return rows(STUDY, self.keys(keys), estimates)

    def means(self, metric: str, values: Array, keys: Mapping[str, Any], unit: str) -> Rows:
        """Rows of the mean of memorized entries, and of the others; values: (target, record)."""
        both = prediction_metrics.means(values, self.entries)
        for group, mean in zip(("memorized", "others"), both, strict=True):
            ends = {"low": mean.low, "high": mean.high, "n": mean.n, "method": mean.method, "unit": unit}
            yield tidy.row(STUDY, self.keys(keys | {"cells": group}), metric, mean.estimate, null=mean.null, **ends)

    def mean(self, metric: str, values: Array, keys: Mapping[str, Any], unit: str) -> dict[str, Any]:
        """Row of a mean over models; values: (model,)."""
        low, high = bootstrap.t_interval(values) if len(values) > 1 else (np.nan, np.nan)
        ends = {"low": low, "high": high, "n": len(values), "method": OVER_MODELS}
        return tidy.row(STUDY, self.keys(keys), metric, values.mean(), unit=unit, **ends)

    def keys(self, keys: Mapping[str, Any]) -> dict[str, Any]:
        """The keys with the setting's."""
        return {"case": self.setting.name} | dict(keys)

    def rng(self, *names: str) -> np.random.Generator:
        """The random stream of that name, of this setting."""
        return seeds.generator(self.seed, STUDY, self.setting.name, *names)
