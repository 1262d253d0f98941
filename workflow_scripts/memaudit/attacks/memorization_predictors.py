"""Predictors, early in training, of the records that the trained model will memorize.

"Predicting memorization within LLMs fine-tuned for classification", Section 4.3 and Appendix C. All have one sign:
higher = more likely to be memorized, and a record is flagged where its score reaches a threshold. The paper flags where
a metric is at most tau: its tau is minus the threshold. The baseline of the paper, LiRA on the partly trained model,
needs shadow models and is `studies.predict.ground_truth.log_lira` of their signals at the checkpoint.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import eigh

from memaudit.attacks import psmi, signals
from memaudit.attacks.hidden_states import States, chunks
from memaudit.attacks.psmi import Scores
from memaudit.common.arrays import Array, Codes
from memaudit.common.errors import AuditError

DIMENSIONS = 500  # Appendix C; the authors' repository takes 100
RANK = 1e-12  # share of the largest variance below which a principal component is rounding
POINT = 1e-24  # share of the squared length of the mean below which all variance is rounding


class Distances(NamedTuple):
    """scores: (record,) Mahalanobis distances; dimensions: number of principal components that they use."""

    scores: Array
    dimensions: int


def from_psmi(scores: Scores) -> Array:
    """Minus PSMI (record,), in nats: a representation that does not explain its label predicts memorization."""
    return -scores.psmi


def from_loss(losses: ArrayLike, records: int) -> Array:
    """The loss (record,) itself, in nats. Raises AuditError for values that are no losses, or too few or many."""
    losses = np.asarray(losses, dtype=np.float64)
    if losses.shape != (records,):
        raise AuditError(f"losses: {losses.shape} for {records} records; give one for each")
    if (bad := ~(np.isfinite(losses) & (losses > -1e-6))).any():
        raise AuditError(
            f"losses: that of record {int(np.argmax(bad))} is {losses[np.argmax(bad)]:g}; give -log p of its label"
        )
    return losses


def loss(logits: ArrayLike, labels: Codes) -> Array:
    """Cross-entropy of the label, -log p_y, in nats. logits: (record, class); labels: (record,). Returns (record,)."""
    return signals.loss(_logits(logits, labels), labels)


def logit_gap(logits: ArrayLike, labels: Codes) -> Array:
    """Largest other logit minus the label's: minus the logit gap of Appendix C; arguments as for `loss`.

    Appendix A.1 defines it as highest minus second-highest, which does not depend on the label.
    """
    return -signals.hinge(_logits(logits, labels), labels)


def mahalanobis(states: States, dimensions: int = DIMENSIONS) -> Distances:
    """Distance of every record from the distribution of all *others*, whatever their class, after PCA (Appendix C).

    states: (record, feature), see `psmi`; the components are those of all records. Mean and covariance of the others
    come from one decomposition: z being a record less the mean of all n, S their scatter and k = z' S^-1 z n / (n - 1),
    the distance is sqrt((n - 2) n / (n - 1) k / (1 - k)). It orders records as the distance from all n does. From n - 1
    dimensions on the covariance of the others is singular, so at most half as many dimensions as records are used, and
    none without variance: `dimensions` of the result is their number. A record that alone spreads a dimension, as a
    unit that is active for it alone, is infinitely far from the others: k is at most 1 - 1 / n (see `limit`). Raises
    AuditError for fewer than 4 records, or where all are one point.
    """
    count = sum(len(chunk) for chunk in chunks(states))
    if count < 4:
        raise AuditError(f"Mahalanobis distance: {count} records; it needs 4 or more")
    h, kept = _leverage(states, count, min(dimensions, count // 2))
    k = np.minimum(h * count / (count - 1), 1 - 1 / count)
    return Distances(np.sqrt((count - 2) * count / (count - 1) * k / (1 - k)), kept)


def limit(records: int) -> float:
    """The largest Mahalanobis distance that so many records can have."""
    return float(np.sqrt((records - 2) * records))


def predictors(
    states: States,
    labels: ArrayLike,
    rng: np.random.Generator,
    *,
    losses: ArrayLike | None = None,
    logits: ArrayLike | None = None,
    classes: Sequence | None = None,
    directions: int = psmi.DIRECTIONS,
    accuracy: float | None = None,
    dimensions: int = DIMENSIONS,
) -> tuple[Mapping[str, Array], Scores, int]:
    """Every predictor with the given inputs, by name, each (record,); PSMI's scores; dimensions of the PCA.

    logits: (record, class), their columns in the order of `classes`; without losses these are computed from them.
    """
    if logits is not None:
        codes = _codes(labels, classes)
        if np.ndim(logits) == 2 and np.shape(logits)[1] != len(classes):
            raise AuditError(f"logits: {np.shape(logits)[1]} columns for {len(classes)} classes; name a class for each")
    scores = psmi.estimate(states, labels, rng, directions=directions, accuracy=accuracy)
    distances = mahalanobis(states, dimensions)
    predicted = {"psmi": from_psmi(scores), "mahalanobis": distances.scores}
    if losses is not None or logits is not None:
        predicted["loss"] = loss(logits, codes) if losses is None else from_loss(losses, len(scores.psmi))
    if logits is not None:
        predicted["logit_gap"] = logit_gap(logits, codes)
    return predicted, scores, distances.dimensions


def _codes(labels: ArrayLike, classes: Sequence | None) -> Codes:
    """Index of each label among the classes, (record,)."""
    places = {name: place for place, name in enumerate([] if classes is None else classes)}
    codes = np.array([places.get(label, -1) for label in np.asarray(labels).tolist()])
    if len(places) < len(classes or []):
        raise AuditError(f"logits: a class is named twice among {', '.join(map(str, classes))}; name each once")
    if (codes < 0).any():
        raise AuditError(
            f"logits: record {int(np.argmax(codes < 0))} has a label that is none of the classes; name them all, in"
            " the order of the columns"
        )
    return codes


def _logits(logits: ArrayLike, labels: Codes) -> Array:
    logits = np.asarray(logits, dtype=np.float64)
    if logits.ndim != 2 or logits.shape[1] < 2 or np.shape(labels) != logits.shape[:1]:
        raise AuditError(f"logits: {logits.shape} for {np.shape(labels)} labels; give (record, class), 2 or more")
    if (bad := ~np.isfinite(logits).all(1)).any():
        raise AuditError(f"logits: record {int(np.argmax(bad))} has one that is not finite; query the model again")
    if (outside := (np.asarray(labels) < 0) | (np.asarray(labels) >= logits.shape[1])).any():
        raise AuditError(
            f"logits: record {int(np.argmax(outside))} has a label beyond the {logits.shape[1]} columns; give a column"
            " for each class"
        )
    return logits


def _leverage(states: States, count: int, dimensions: int) -> tuple[Array, int]:
    """z' S^-1 z of every record in the first principal components, (record,), and the number of these."""
    mean = sum(chunk.sum(0) for chunk in chunks(states)) / count
    least = POINT * count * (mean @ mean)
    if count <= len(mean):
        centred = np.concatenate([chunk - mean for chunk in chunks(states)])
        values, vectors = _largest(centred @ centred.T, dimensions, least)
        return np.square(vectors).sum(1), len(values)
    scatter = sum((chunk - mean).T @ (chunk - mean) for chunk in chunks(states))
    values, vectors = _largest(scatter, dimensions, least)
    whitened = vectors / np.sqrt(values)
    return np.concatenate([np.square((chunk - mean) @ whitened).sum(1) for chunk in chunks(states)]), len(values)


def _largest(matrix: Array, dimensions: int, least: float) -> tuple[Array, Array]:
    size = len(matrix)
    values, vectors = eigh(matrix, subset_by_index=(max(0, size - dimensions), size - 1))
    kept = values > RANK * values[-1]
    if values[-1] <= least:
        raise AuditError("Mahalanobis distance: all hidden states are one point; check the layer")
    return values[kept], vectors[:, kept]
