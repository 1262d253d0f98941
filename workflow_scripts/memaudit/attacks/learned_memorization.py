"""A learned predictor of memorization: a weighted sum of other predictors' normal scores. NumPy and SciPy alone.

Weights are fitted by `studies.predict.learned_predictor` on settings whose memorized records are known.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.special import ndtri
from scipy.stats import rankdata

from memaudit.common.arrays import Array
from memaudit.common.errors import AuditError

# What one query of a checkpoint gives, and what earlier checkpoints of the same training add.
ONE_CHECKPOINT = (
    "psmi",
    "mahalanobis",
    "neighbour_disagreement",
    "neighbour_value",
    "loss",
    "gradient_norm",
    "logit_gap",
)
EARLIER = ("share_wrong", "forgetting_events", "mean_loss")
ALL = ONE_CHECKPOINT + EARLIER
LEARNED = {"learned": ONE_CHECKPOINT, "learned_checkpoints": ALL}  # what each learned predictor combines
# Columns of a user's records.
NEEDS = {"loss": "loss or logits", "gradient_norm": "loss or logits", "logit_gap": "logits"}
NEEDS |= dict.fromkeys(EARLIER, "losses, and gaps")


def tied_normal_scores(values: Array) -> Array:
    """Quantiles of the normal distribution at the ranks of values (record,), ties at their mean rank (van der Waerden).

    Counts have many ties. Units and scales of a setting vanish, so that settings can be compared. A constant gives 0.
    """
    return ndtri(rankdata(values) / (len(values) + 1))


@dataclass(frozen=True)
class Combination:
    """A weighted sum of normal scores. features: names of predictors; weights: (feature,)."""

    features: tuple[str, ...]
    weights: Array

    def scores(self, predicted: Mapping[str, Array]) -> Array:
        """Log-odds of memorization, up to a constant, (record,): higher = more likely to be memorized.

        predicted: predictors of all records that one model was trained on, (record,) each. The scores are relative to
        these records. Raises AuditError naming a predictor that is missing.
        """
        return self.of_normal_scores({name: tied_normal_scores(predicted[name]) for name in self._present(predicted)})

    def of_normal_scores(self, normal: Mapping[str, Array]) -> Array:
        """The same for predictors that are normal scores already, of any one shape."""
        pairs = zip(self.weights, self._present(normal), strict=True)
        return sum((weight * normal[name] for weight, name in pairs), np.zeros(()))

    def facts(self) -> dict[str, Any]:
        """The combination as JSON."""
        return {"features": list(self.features), "weights": [float(weight) for weight in self.weights]}

    @classmethod
    def read(cls, facts: Mapping[str, Any], where: str) -> Self:
        """The combination of such facts. Raises AuditError, naming `where` they stand, if they are incomplete."""
        features, weights = facts.get("features"), facts.get("weights")
        if not (isinstance(features, list) and isinstance(weights, list) and len(features) == len(weights) > 0):
            raise AuditError(f"{where}: holds no features with their weights; give the results of study predict")
        return cls(tuple(features), np.asarray(weights, dtype=np.float64))

    def _present(self, predicted: Mapping[str, Any]) -> Sequence[str]:
        if missing := [name for name in self.features if name not in predicted]:
            raise AuditError(
                f"the learned predictor needs {missing[0]}: give the column {NEEDS.get(missing[0], missing[0])} of the"
                " records"
            )
        return self.features
