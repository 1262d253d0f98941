"""Scores of a predictor on new records, for the model cards."""

import numpy as np
from sklearn.metrics import r2_score

from memaudit.common.arrays import Array, Codes
from memaudit.statistics.roc import auc


def macro_auc(classes: Codes, probability: Array) -> float:
    """Mean over classes of the AUC of one against the rest; with two classes both are the same.

    classes: (record,), 0 to the number of classes - 1; probability: (record, class).
    """
    classes = np.asarray(classes)  # a column of a table
    return float(np.mean([auc(column, classes == label) for label, column in enumerate(probability.T)]))


def r_squared(targets: Array, predicted: Array) -> float:
    """Coefficient of determination of predicted numbers, (record,) each."""
    return float(r2_score(targets, predicted))
