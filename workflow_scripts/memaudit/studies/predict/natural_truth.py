"""Which natural records the targets of a setting have memorized, from its files or its measurements: in one place.

"Predicting memorization within LLMs fine-tuned for classification", Sections 4.2 and 5.1.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import xarray as xr

from memaudit.common import seeds
from memaudit.common.arrays import Array, Codes, Mask
from memaudit.common.errors import AuditError
from memaudit.statistics.attack_performance import Estimate
from memaudit.studies.predict import prediction_metrics
from memaudit.studies.predict.prediction_metrics import Entries, member_entries


def targets_first(records: xr.Dataset, scores: xr.Dataset, signals: xr.Dataset) -> Codes:
    """All models of a setting in the order of its measurements, (model,): interrupted targets, then all others.

    Targets that were not interrupted are shadow models like any other. Raises AuditError where models are missing.
    """
    models = signals.model.values
    if not np.array_equal(models, np.arange(records.sizes["model"])):
        raise AuditError(f"{records.case}: {len(models)} of {records.sizes['model']} models; train the others, too")
    return np.concatenate([scores.target.values, np.setdiff1d(models, scores.target.values)])


@dataclass(frozen=True)
class NaturalTruth:
    """The memorized records of a setting's targets, natural ones as entries with common bootstrap weights.

    lira: log-LiRA at the end of training, (target, record); member: training records of each target, (target, record);
    natural: records that nobody planted, (record,); unit: privacy units, (record,); least: log-LiRA from which a record
    counts as memorized; seed: of the run.
    """

    name: str
    lira: Array
    member: Mask
    natural: Mask
    unit: Codes
    least: float
    replicates: int
    seed: int

    @property
    def memorized(self) -> Mask:
        """Whether a record is memorized at the end of training, (target, record)."""
        return self.lira >= self.least

    @cached_property
    def judged(self) -> Entries:
        """Natural records that a target was trained on."""
        return self.entries(self.memorized, self.member & self.natural)

    @cached_property
    def outside(self) -> Entries:
        """Natural records that a target was not trained on: what is memorized of them is chance."""
        return self.entries(self.memorized, ~self.member & self.natural)

    def entries(self, memorized: Mask, chosen: Mask) -> Entries:
        """The chosen entries (target, record); every call has the same weights of targets and records."""
        rng = seeds.generator(self.seed, "predict", self.name, "cells")
        return member_entries(memorized, chosen, rng, groups=self.unit, replicates=self.replicates)

    def share(self, threshold: float | None = None) -> Estimate:
        """`prediction_metrics.memorized_share` of natural records, from `least` or another threshold."""
        threshold = self.least if threshold is None else threshold
        return prediction_metrics.memorized_share(self.lira, self.judged, self.outside, threshold)

    @cached_property
    def beyond_chance(self) -> Estimate:
        """`prediction_metrics.beyond_chance` of natural records: the gate of the setting."""
        return prediction_metrics.beyond_chance(self.lira, self.judged, self.outside, self.least)
