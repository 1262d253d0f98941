"""Signals of one query of one model on one record.

Classification signals take logits (..., class), -inf for a class that the model does not know, and labels (...), and
work in float64 on log-probabilities, with 0 log 0 = 0. Regression signals take numbers that a predicted distribution
yields, so that this module knows arrays only. All return (...), in nats unless they say otherwise; the calibration
decides which direction points to members.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import log_softmax, logsumexp

from memaudit.common.arrays import Array, Codes

CLIP = 1e-12  # the least probability, and 1 less the largest, as in the reliability paper's code


def logit_confidence(logits: Array, labels: Codes, clip: float = 0.0) -> Array:
    """log p_y - log(sum of the other probabilities), in float64 and from log-probabilities (Carlini et al. 2022).

    1 - p_y would lose every digit of a confident prediction. logits: (..., class); labels: (...); clip: p_y is held in
    [clip, 1 - clip], `CLIP` for in-context models. Returns (...), in nats.
    """
    logs = _log_probabilities(logits)
    own = _of_label(logs, labels)
    others = logsumexp(_without_label(logs, labels), axis=-1)
    bound = np.log1p(-clip) - np.log(clip) if clip else np.inf
    return np.clip(own - others, -bound, bound)


def hinge(logits: Array, labels: Codes) -> Array:
    """Logit of the true class minus the largest other logit, the logit gap. logits: (..., class); labels: (...)."""
    logits = np.asarray(logits, dtype=np.float64)
    return _of_label(logits, labels) - _without_label(logits, labels).max(-1)


def loss(logits: Array, labels: Codes) -> Array:
    """-log p_y (Yeom et al. 2018); infinite for a class that the model does not know."""
    return np.logaddexp(0, -logit_confidence(logits, labels))


def logit_of_loss(values: ArrayLike, clip: float = 1e-12) -> Array:
    """`logit_confidence` from a loss -log p_y, (...), which is raised to at least `clip`; in nats."""
    held = np.maximum(np.asarray(values, dtype=np.float64), clip)
    return -held - np.log(-np.expm1(-held))


def confidence(logits: Array) -> Array:
    """max_i p_i, a probability (Salem et al. 2019)."""
    return np.exp(_log_probabilities(logits).max(-1))


def correctness(logits: Array, labels: Codes) -> Array:
    """1 where the true class alone has the largest logit, else 0: a tie is no right answer (Yeom et al. 2018)."""
    return (hinge(logits, labels) > 0).astype(np.float64)


def prediction_gap(logits: Array, labels: Codes) -> Array:
    """p_y - max_{i != y} p_i, a difference of probabilities."""
    logs = _log_probabilities(logits)
    return np.exp(_of_label(logs, labels)) - np.exp(_without_label(logs, labels).max(-1))


def entropy(logits: Array) -> Array:
    """-sum_i p_i log p_i (Shannon); between 0 and the logarithm of the number of classes."""
    probabilities, odds = np.exp(_log_probabilities(logits)), _log_odds(logits)
    return _weighted(probabilities, np.logaddexp(0, -odds)).sum(-1)


def modified_entropy(logits: Array, labels: Codes) -> Array:
    """-(1 - p_y) log p_y - sum_{i != y} p_i log(1 - p_i) (Song & Mittal 2021).

    Entropy that knows the true class: 0 for a certain right answer, infinite for a certain wrong one.
    """
    odds = _log_odds(logits)
    probabilities = np.exp(_without_label(_log_probabilities(logits), labels))
    own = _weighted(probabilities.sum(-1), loss(logits, labels))
    return own + _weighted(probabilities, np.logaddexp(0, odds)).sum(-1)


def density_loss(log_density: ArrayLike) -> Array:
    """-log f(y), the negative log density of the predicted distribution at the true target; regression's loss.

    log_density: (...), in nats per unit of the target. Below 0 where the density is above 1: a unit's choice shifts it.
    """
    return -np.asarray(log_density, dtype=np.float64)


def _log_probabilities(logits: Array) -> Array:
    return log_softmax(np.asarray(logits, dtype=np.float64), axis=-1)


def _log_odds(logits: Array) -> Array:
    """log p_i - log(1 - p_i) of every class (..., class): log p = -log(1 + exp(-odds)) then keeps all digits near 1."""
    logs = _log_probabilities(logits)
    others = [logsumexp(_without_label(logs, i), axis=-1) for i in range(logs.shape[-1])]
    return logs - np.stack(others, -1)


def _weighted(weights: Array, values: Array) -> Array:
    """weights * values, and 0 where the weight is 0, also of an infinite value."""
    return np.multiply(weights, values, out=np.zeros(np.broadcast(weights, values).shape), where=weights > 0)


def _of_label(values: Array, labels: Codes) -> Array:
    return np.take_along_axis(values, np.asarray(labels)[..., None], axis=-1)[..., 0]


def _without_label(values: Array, labels: Codes | int) -> Array:
    classes = np.arange(values.shape[-1])
    return np.where(classes == np.asarray(labels)[..., None], -np.inf, values)
