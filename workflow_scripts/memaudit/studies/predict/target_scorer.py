"""Scores of the targets of a setting, read from the files of their hidden states one checkpoint at a time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import xarray as xr

from memaudit.common import seeds
from memaudit.common.arrays import Array
from memaudit.common.errors import AuditError
from memaudit.common.io import readable
from memaudit.studies.predict.input_features import input_features
from memaudit.studies.predict.target_scores import features, predictors


@dataclass(frozen=True)
class TargetScorer:
    """A prepared setting (`setting_records.prepare`), its targets' signals, and the files of their hidden states.

    scoring: of config, how predictors are computed. All scores are of a target's own records, NaN for others.
    """

    prepared: xr.Dataset
    signals: xr.Dataset
    files: Sequence[str]
    scoring: Mapping[str, Any]
    seed: int

    @cached_property
    def layers(self) -> int:
        """Number of layers with hidden states."""
        counts = []
        for path in self.files:
            with readable(path), xr.open_dataset(path, engine="netcdf4") as file:
                counts.append(int(file.attrs["layers"]))
        return max(counts)

    def score(self, target: int, checkpoint: int, layer: int) -> Array:
        """`target_scores.predictors` of a layer at a checkpoint."""
        rng = self._rng(target, checkpoint, layer)
        return predictors(*self._own(target, self._states(target, checkpoint, layer)), rng, self.scoring)

    def untrained(self, target: int) -> Array:
        """Minus PSMI of the records as the network reads them, (record,)."""
        own = self._own(target, self._inputs)
        return predictors(*own, self._rng(target, "inputs"), self.scoring)[0]

    def at_stop(self, target: int, stop: int) -> Array:
        """`target_scores.features` of the last layer where training is interrupted."""
        seen = self.signals.isel(model=target, checkpoint=slice(min(1, stop), stop + 1))
        return features(*self._own(target, self._states(target, stop, self.layers - 1)), seen)

    def _own(self, target: int, states: Array) -> tuple[Array, Array, Array]:
        """States (record, feature) and classes of the target's own records, and which these are (record,)."""
        own = self.prepared.membership.values[target]
        return states[own], self.prepared.code.values[own], own

    def _states(self, target: int, checkpoint: int, layer: int) -> Array:
        """Hidden states of a checkpoint, (record, feature). Raises AuditError if no file has them."""
        name = f"target{target}_layer{layer}"
        for path in self.files:
            with readable(path), xr.open_dataset(path, engine="netcdf4") as file:
                if name in file:
                    return file[name][checkpoint].values
        raise AuditError(f"{self.files[0]}: no file has {name}; train its shard again")

    @cached_property
    def _inputs(self) -> Array:
        return input_features(self.prepared.x.values)

    def _rng(self, *place: Any) -> np.random.Generator:
        return seeds.generator(self.seed, "predict", self.prepared.case, "psmi", *place)
