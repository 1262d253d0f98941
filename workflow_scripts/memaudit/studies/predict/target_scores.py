"""Predictors of memorization of a target's own records: at every checkpoint, and more where training is interrupted."""

import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr

from memaudit.attacks import memorization_features, psmi
from memaudit.attacks.learned_memorization import EARLIER
from memaudit.attacks.memorization_predictors import from_psmi, mahalanobis
from memaudit.common.arrays import Array, Codes, Mask
from memaudit.studies.predict.prediction_checkpoints import Interruption

OF_STATES = ("psmi", "mahalanobis", "psmi_error")
AT_STOP = ("neighbour_disagreement", "neighbour_value", "gradient_norm", *EARLIER)


def predictors(states: Array, code: Codes, own: Mask, rng: np.random.Generator, scoring: Mapping[str, Any]) -> Array:
    """Predictors from states (own record, feature), NaN for other records; CPU seconds of PSMI, of all: (5, record)."""
    start, values = time.process_time(), np.full((len(OF_STATES) + 2, len(own)), np.nan)
    scores = psmi.estimate(states, code, rng, directions=scoring["directions"], accuracy=scoring["accuracy"])
    values[-2] = time.process_time() - start
    distances = mahalanobis(states, scoring["dimensions"])
    values[:-2, own] = from_psmi(scores), distances.scores, scores.error
    values[-1] = time.process_time() - start
    return values


def features(states: Array, code: Codes, own: Mask, seen: xr.Dataset) -> Array:
    """Predictors `AT_STOP` and their CPU seconds: (predictor + 1, record), NaN for records that are not own.

    states (own record, feature); seen: loss and gap (checkpoint, record) from the first checkpoint of the training up
    to the interruption; before training a model knows nothing of its records.
    """
    start, values = time.process_time(), np.full((len(AT_STOP) + 1, len(own)), np.nan)
    losses, gaps = (seen[name].values[:, own].astype(np.float64) for name in ("loss", "gap"))
    neighbours = memorization_features.neighbour_scores(states, code)
    gradient = memorization_features.head_gradient_norm(losses[-1], states)
    course = memorization_features.of_checkpoints(losses, gaps)
    values[:-1, own] = *neighbours, gradient, *(course[name] for name in EARLIER)
    values[-1] = time.process_time() - start
    return values


def at_interruption(more: Array, stops: Codes, candidates: Sequence[Interruption]) -> dict[str, Any]:
    """Variables of `features` (target, predictor + 1, record), with the checkpoint of each target's interruption, and
    the fall of its median loss there.
    """
    fallen = [one.drops[stop] for one, stop in zip(candidates, stops, strict=True)]
    named = {name: (("target", "record"), more[:, place]) for place, name in enumerate(AT_STOP)}
    return named | {
        "feature_seconds": ("target", more[:, -1, 0]),
        "interruption": ("target", stops),
        "fallen": ("target", fallen),
    }
