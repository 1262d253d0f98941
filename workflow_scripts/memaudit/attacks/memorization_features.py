"""Further predictors of memorization from one training run: neighbours, gradient norm, agreement among checkpoints.

They need no shadow model. All have the sign of `memorization_predictors`: higher = more likely to be memorized.
"""

from typing import NamedTuple

import numpy as np

from memaudit.attacks.hidden_states import States, chunks
from memaudit.common.arrays import Array, Codes, Mask
from memaudit.common.errors import AuditError

NEIGHBOURS = 10
DISTANCES = 2**22  # distances that are held at once


class NeighbourScores(NamedTuple):
    """(record,) each: share of the nearest records with another label; minus the Shapley value."""

    neighbour_disagreement: Array
    neighbour_value: Array


def neighbour_scores(states: States, labels: Codes, neighbours: int = NEIGHBOURS) -> NeighbourScores:
    """Labels of the nearest records, and minus each record's Shapley value for a nearest-neighbour classifier.

    states: (record, feature), compared by Euclidean distance; labels: (record,). The Shapley value is the exact one of
    Jia et al. 2019 ("Efficient task-specific data valuation for nearest neighbor algorithms", Theorem 1), its mean over
    all other records as test points: it is negative where a record misleads the classification of its neighbours. Time
    grows with the square of the number of records. Raises AuditError for 1 record or fewer.
    """
    points, labels = np.concatenate(list(chunks(states))), np.asarray(labels)
    if (count := len(points)) < 2 or len(labels) != count:
        raise AuditError(f"neighbours: {count} hidden states and {len(labels)} labels; give one each, of 2 or more")
    squares, value, disagreement = np.square(points).sum(1), np.zeros(count), np.empty(count)
    for start in range(0, count, max(1, DISTANCES // count)):
        rows = np.arange(start, min(start + max(1, DISTANCES // count), count))
        distances = squares - 2 * points[rows] @ points.T  # less the square of the row's own length, which orders none
        distances[np.arange(len(rows)), rows] = np.inf
        order = np.argsort(distances, axis=1, kind="stable")[:, :-1]
        agree = labels[order] == labels[rows, None]
        disagreement[rows] = 1 - agree[:, :neighbours].mean(1)
        value += np.bincount(order.ravel(), shapley_values(agree, neighbours).ravel(), minlength=count)
    return NeighbourScores(disagreement, -value / (count - 1))


def shapley_values(agree: Mask, neighbours: int) -> Array:
    """Shapley values of training records for test records, (test, training), nearest first (Jia et al. 2019, Eq. 6, 7).

    agree: (test, training), nearest first, whether the labels are equal. The game's value is the share of `neighbours`
    nearest records with the test record's label; fewer than that many count as if the missing ones had another label.
    """
    agree, count = agree.astype(np.float64), agree.shape[1]
    places = np.arange(1, count)
    steps = (agree[:, :-1] - agree[:, 1:]) / neighbours * np.minimum(neighbours, places) / places
    last = agree[:, -1:] / max(count, neighbours)
    return np.hstack([np.cumsum(steps[:, ::-1], axis=1)[:, ::-1] + last, last])


def head_gradient_norm(losses: Array, states: States) -> Array:
    """Norm of the gradient of each loss by the weights of a linear head, (record,), from losses and states alone.

    With probabilities p and a bias that norm is |p - y| sqrt(1 + |h|^2) (GraNd of the last layer: Paul et al. 2021,
    "Deep learning on a data diet", Section 2). |p - y| is replaced by 1 - p of the label, which needs no other logit:
    it is |p - y| / sqrt(2) for two classes, and between that and |p - y| sqrt(1 - 1 / C) for C classes.
    """
    squares = np.concatenate([np.square(chunk).sum(1) for chunk in chunks(states)])
    return -np.expm1(-np.maximum(losses, 0)) * np.sqrt(1 + squares)


def share_wrong(gaps: Array) -> Array:
    """Share of checkpoints that misclassify each record, (record,); gaps: (checkpoint, record) logit gaps of labels."""
    return (gaps <= 0).mean(0)


def forgetting_events(gaps: Array) -> Array:
    """Number of times that a record classified correctly is misclassified at the next checkpoint, (record,).

    Toneva et al. 2019, "An empirical study of example forgetting", Definition 1, between checkpoints instead of steps.
    gaps: (checkpoint, record) logit gaps of the labels.
    """
    correct = gaps > 0
    return (correct[:-1] & ~correct[1:]).sum(0).astype(np.float64)


def mean_loss(losses: Array) -> Array:
    """Mean loss of each record over checkpoints, (record,), in nats; losses: (checkpoint, record).

    A cumulative measure of difficulty (Jiang et al. 2021, "Characterizing structural regularities of labeled data").
    """
    return losses.mean(0)


def of_checkpoints(losses: Array, gaps: Array) -> dict[str, Array]:
    """Every predictor from several checkpoints of one training, by name, (record,).

    losses, gaps: (checkpoint, record) losses and logit gaps of the labels, since the training began. Slope and
    deviation of the loss are not among them: it depends on the setting whether those of memorized records are larger.
    """
    return {
        "share_wrong": share_wrong(gaps),
        "forgetting_events": forgetting_events(gaps),
        "mean_loss": mean_loss(losses),
    }
