"""Membership scores from the predictions of one model that cannot be refitted: no shadow model is made.

Scores without a fit read a record's own prediction. Fitted ones compare it with those of non-members, each half of the
records with non-members of the other half, so that no record is compared with itself and members and non-members are
compared with the same ones. Higher scores point to members.

The probability of the true class, its logarithm (the loss) and its logit order records alike: they are one score.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor

from memaudit.attacks import signals
from memaudit.attacks.attack_entry import PER_CLASS
from memaudit.attacks.per_class_threshold import per_class
from memaudit.attacks.registry import REGISTRY
from memaudit.attacks.rmia import offline_marginal
from memaudit.common.arrays import Array, Codes, Mask

LEAST = 1e-12  # probabilities of 0 or 1 are printed ones, rounded
QUANTILE, QUANTILE_REGRESSION = 0.75, "quantile regression"
MOST_FITTED = 5000  # non-members of a fit: more cost time and change little
TREES = {"max_iter": 30, "max_leaf_nodes": 8, "early_stopping": False}
RMIA = "rmia offline"
WITHOUT_FIT = ("loss", "modified entropy", "prediction gap", "confidence", "entropy", "correctness")
NAMES = {name: REGISTRY[name].label for name in (*WITHOUT_FIT, RMIA)} | {
    "loss" + PER_CLASS: "Loss, per class",
    QUANTILE_REGRESSION: "Quantile regression",
}


@dataclass(frozen=True)
class Predictions:
    """Predictions of one model about rows, and what else is known of the rows.

    probabilities: (row, class); labels: (row,) true classes; features: (row, column), NaN where missing, codes of
    categories where `categorical` (column,); references: (model, row) probability of the true class by models that have
    seen none of the rows.
    """

    probabilities: Array
    labels: Codes
    features: Array
    categorical: Mask
    references: Array

    def of(self, rows: Codes) -> "Predictions":
        """The predictions about these rows."""
        references = self.references[:, rows]
        return Predictions(
            self.probabilities[rows], self.labels[rows], self.features[rows], self.categorical, references
        )

    def known(self) -> tuple[Array, Mask]:
        """What an adversary knows without the model: features and the true class, and which of them are categories."""
        return np.column_stack([self.features, self.labels]), np.append(self.categorical, True)


def logits(probabilities: Array) -> Array:
    """Logarithms of probabilities (..., class), which may be 0 in print."""
    return np.log(np.clip(probabilities, LEAST, 1.0))


def without_fit(predictions: Predictions, offline_a: float) -> dict[str, Array]:
    """Scores (row,) of each row's own prediction, by name, and RMIA's ratio where there are reference models.

    offline_a: RMIA's a. RMIA's score, the share of population records that a record dominates, rises with the record's
    ratio and never falls: with one target model the ratio itself orders records as the score does.
    """
    values, labels = logits(predictions.probabilities), predictions.labels
    found = {
        "loss": -signals.loss(values, labels),
        "modified entropy": -signals.modified_entropy(values, labels),
        "prediction gap": signals.prediction_gap(values, labels),
        "confidence": signals.confidence(values),
        "entropy": -signals.entropy(values),
        "correctness": signals.correctness(values, labels),
    }
    if len(predictions.references):
        own = np.exp(found["loss"])
        found[RMIA] = own / offline_marginal(predictions.references.mean(0), offline_a)
    return found


def compared_with_non_members(predictions: Predictions, member: Mask, half: Mask) -> dict[str, Array]:
    """Scores (row,) that compare each row with the non-members of the other half, by name.

    member, half: (row,) each. A threshold per class of the loss (Song and Mittal 2021), and the logit-scaled confidence
    less a quantile of it that is predicted from the row's features and class (Bertran et al. 2023).
    """
    confidence = signals.logit_confidence(logits(predictions.probabilities), predictions.labels, LEAST)
    space, _ = predictions.known()
    scores = {"loss" + PER_CLASS: np.empty(len(half)), QUANTILE_REGRESSION: np.empty(len(half))}
    for side in (half, ~half):
        reference = np.flatnonzero(~side & ~member)
        scores["loss" + PER_CLASS][side] = _per_class(confidence, predictions.labels, side, reference)
        # Codes of categories are read as numbers, the commonest first: trees take several splits for one.
        trees = HistGradientBoostingRegressor(loss="quantile", quantile=QUANTILE, random_state=0, **TREES)
        fitted = trees.fit(space[reference[:MOST_FITTED]], confidence[reference[:MOST_FITTED]])
        scores[QUANTILE_REGRESSION][side] = confidence[side] - fitted.predict(space[side])
    return scores


def by_unit(scores: Mapping[str, Array], units: Codes) -> dict[str, Array]:
    """Means of row scores over the rows of each unit (unit,); units: (row,) codes 0, 1, ..."""
    counts = np.bincount(units)
    return {name: np.bincount(units, values) / counts for name, values in scores.items()}


def _per_class(confidence: Array, labels: Codes, side: Mask, reference: Codes) -> Array:
    """`per_class` of the rows of one half beside the references; a class without any is compared with all of them."""
    known = np.isin(labels, np.unique(labels[reference]))
    classes = np.where(known, labels, -1)
    rows = np.flatnonzero(side)
    scores = np.empty(len(rows))
    for label in np.unique(classes[rows]):
        chosen = rows[classes[rows] == label]
        beside = reference if label < 0 else reference[labels[reference] == label]
        together = np.concatenate([confidence[chosen], confidence[beside]])
        outside = np.arange(len(together)) >= len(chosen)
        codes = np.zeros(len(together), np.int64)
        scores[classes[rows] == label] = per_class(together[None], ~outside[None], labels=codes)[0, : len(chosen)]
    return scores
