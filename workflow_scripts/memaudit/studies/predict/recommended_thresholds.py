"""Recommended predictors and thresholds with their measured error rates.

"Predicting memorization within LLMs fine-tuned for classification", Table 1 and Section 5.4.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from memaudit.common.arrays import Array, Mask
from memaudit.statistics import roc
from memaudit.statistics.attack_performance import Estimate
from memaudit.studies.predict.prediction_metrics import Entries, error_rates

PSMI_THRESHOLD = 0.0  # Table 1, of minus PSMI


@dataclass(frozen=True)
class Recommendation:
    """A line of Table 1: for whom, which predictor, the least score of a flag, and its measured TPR and FPR.

    chosen: how the threshold was set.
    """

    profile: str
    predictor: str
    threshold: float
    chosen: str
    rates: tuple[Estimate, Estimate]
    layer: str = "last"

    def facts(self) -> dict[str, Any]:
        """The recommendation as JSON, as `predict_rank_own` reads it."""
        parts = ("estimate", "low", "high", "n")
        rates = {rate.metric: {part: getattr(rate, part) for part in parts} for rate in self.rates}
        keys = ("profile", "predictor", "threshold", "chosen", "layer")
        return {key: getattr(self, key) for key in keys} | rates | {"method": self.rates[0].method}


def best_threshold(scores: Array, memorized: Mask, weights: Array | None = None) -> float:
    """The least score of a flag with the largest TPR - FPR; all (entry,), weights equal without any."""
    ranking = roc.rank(scores, memorized)
    fpr, tpr = roc.curve(ranking, None if weights is None else weights[ranking.order])
    last = ranking.order[ranking.ends[max(int(np.argmax(tpr - fpr)) - 1, 0)]]
    return float(scores[last])


def recommended(psmi: Array, loss: Array, judged: Entries, rng: np.random.Generator) -> list[Recommendation]:
    """Table 1, measured: PSMI at its own threshold for practitioners, the loss at an optimised one for researchers.

    psmi, loss: (target, record) scores, higher = more likely to be memorized. The threshold of the loss has the largest
    TPR - FPR on a random half of the records (of the groups), and is judged on the other half. Where a half has no
    memorized record, or no other, nothing can be optimised, and only the first line is returned.
    """
    rates = error_rates(psmi, judged, PSMI_THRESHOLD)
    practitioners = Recommendation("practitioners", "psmi", PSMI_THRESHOLD, "fixed", rates)
    groups = rng.permutation(np.unique(judged.group))
    half = np.isin(judged.group, groups[: len(groups) // 2])
    chosen_on, judged_on = judged.only(half), judged.only(~half)
    if not (chosen_on.both and judged_on.both):
        return [practitioners]
    threshold = best_threshold(loss[chosen_on.target, chosen_on.record], chosen_on.memorized)
    rates = error_rates(loss, judged_on, threshold)
    return [practitioners, Recommendation("researchers", "loss", threshold, "on other records", rates)]
