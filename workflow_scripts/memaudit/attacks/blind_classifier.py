"""Blind attack: whether features alone tell members from non-members (classifier two-sample test).

It sees no prediction. What it finds is a difference between the files, not memory (Lopez-Paz and Oquab 2017; blind
baselines of membership inference: Das et al. 2024).
"""

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, QuantileTransformer

from memaudit.attacks import signals
from memaudit.attacks.prediction_scores import MOST_FITTED, TREES, Predictions, logits
from memaudit.common.arrays import Array, Mask


def blind_scores(space: Array, categorical: Mask, member: Mask, half: Mask) -> Array:
    """Log odds (row,) of membership by the features, each half of the rows from a fit on the other half.

    space: (row, column), NaN where missing; categorical: (column,), codes of categories; member, half: (row,). The mean
    of boosted trees, which see interactions, and a linear model, which sees small shifts of few rows.
    """
    scores = np.empty(len(half))
    for side in (half, ~half):
        rows = _balanced_first(np.flatnonzero(~side), member)
        trees = HistGradientBoostingClassifier(random_state=0, **TREES)
        models = [model.fit(space[rows], member[rows]) for model in (trees, _linear(categorical, len(rows)))]
        scores[side] = np.mean([model.decision_function(space[side]) for model in models], axis=0)
    return scores


def stand_in_scores(predictions: Predictions, member: Mask, half: Mask) -> Array:
    """Log probability (row,) of the true class by a model of the features that is fitted on members of the other half.

    It has seen none of the rows that it scores, members as little as non-members: what its scores tell apart is how
    hard the rows of either file are to predict, as where classes follow from features in another way. member, half:
    (row,).
    """
    scores = np.zeros(len(half))
    for side in (half, ~half):
        rows = np.flatnonzero(~side & member)[: 2 * MOST_FITTED]
        known, codes = np.unique(predictions.labels[rows], return_inverse=True)
        if len(known) < 2:
            continue
        trees = HistGradientBoostingClassifier(random_state=0, **TREES)
        found = trees.fit(predictions.features[rows], codes).predict_proba(predictions.features[side])
        every = np.zeros((len(found), predictions.probabilities.shape[1]))
        every[:, known] = found
        scores[side] = -signals.loss(logits(every), predictions.labels[side])
    return scores


def _balanced_first(rows: Array, member: Mask) -> Array:
    """At most MOST_FITTED of the rows of either file."""
    return np.sort(np.concatenate([rows[member[rows] == side][:MOST_FITTED] for side in (False, True)]))


def _linear(categorical: Mask, rows: int) -> Pipeline:
    """A logistic regression on normal quantiles of numbers and indicators of the commoner categories."""
    numbers = make_pipeline(
        SimpleImputer(strategy="median", keep_empty_features=True, add_indicator=True),
        QuantileTransformer(n_quantiles=min(100, rows), output_distribution="normal", random_state=0),
    )
    categories = OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=5, max_categories=20)
    parts = [("numbers", numbers, ~categorical), ("categories", categories, categorical)]
    return make_pipeline(ColumnTransformer(parts, sparse_threshold=0), LogisticRegression(max_iter=200))
