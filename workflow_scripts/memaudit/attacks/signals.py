"""Signals: what one query of one model says about one record."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax, logsumexp

Array = NDArray[np.float64]


def logit_confidence(logits: Array, labels: NDArray[np.integer], clip: float = 0.0) -> Array:
    """log p_y - log(sum of the other probabilities), in float64 and from log-probabilities (Carlini et al. 2022).

    1 - p_y would lose every digit of a confident prediction. logits: (..., class); labels: (...); clip: p_y is held in
    [clip, 1 - clip], 1e-12 for in-context models as in the reliability paper's code. Returns (...), in nats.
    """
    logs = log_softmax(np.asarray(logits, dtype=np.float64), axis=-1)
    own = _of_label(logs, labels)
    others = logsumexp(_without_label(logs, labels), axis=-1)
    bound = np.log1p(-clip) - np.log(clip) if clip else np.inf
    return np.clip(own - others, -bound, bound)


def hinge(logits: Array, labels: NDArray[np.integer]) -> Array:
    """Logit of the true class minus the largest other logit. logits: (..., class); labels: (...). Returns (...)."""
    logits = np.asarray(logits, dtype=np.float64)
    return _of_label(logits, labels) - _without_label(logits, labels).max(-1)


def _of_label(values: Array, labels: NDArray[np.integer]) -> Array:
    return np.take_along_axis(values, np.asarray(labels)[..., None], axis=-1)[..., 0]


def _without_label(values: Array, labels: NDArray[np.integer]) -> Array:
    classes = np.arange(values.shape[-1])
    return np.where(classes == np.asarray(labels)[..., None], -np.inf, values)
