"""Error rates that `predict_own` states, held against fresh models whose memorized records are known.

The stated rates are means over settings, with prediction intervals for the mean rate of models on other data; for one
model the intervals are not meant, so the share of single targets inside is given beside.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from memaudit.attacks.learned_memorization import LEARNED, Combination
from memaudit.common.arrays import Array, Mask
from memaudit.studies.predict.prediction_metrics import Entries, error_rates
from memaudit.studies.predict.setting_features import SettingFeatures

RATES = ("tpr", "fpr")


def measured_rates(one: SettingFeatures, stated: Mapping[str, Any]) -> dict[str, Any]:
    """Measured TPR and FPR of a stated predictor and threshold on natural records of fresh targets, beside the stated.

    stated: a setting as `user_records.read_setting` returns it. Of each rate: stated and measured {estimate, low,
    high}, whether the measured mean lies in the stated interval, and how many targets do, of those with such records.
    """
    name, threshold = stated["predictor"], stated["threshold"]
    scores = one.psmi
    if name in LEARNED:
        scores = Combination.read(stated, "resources/recommended.json").of_normal_scores(one.normal)
    found = {"predictor": name, "threshold": threshold}
    for rate in error_rates(scores, one.judged, threshold):
        ends = stated[rate.metric]["low"], stated[rate.metric]["high"]
        single = of_targets(scores >= threshold, one.judged, one.judged.memorized == (rate.metric == "tpr"))
        found[rate.metric] = {
            "stated": {part: stated[rate.metric][part] for part in ("estimate", "low", "high")},
            "measured": {"estimate": rate.estimate, "low": rate.low, "high": rate.high},
            "holds": bool(ends[0] <= rate.estimate <= ends[1]),
            "targets": len(single),
            "targets_inside": int(((ends[0] <= single) & (single <= ends[1])).sum()),
        }
    return found


def of_targets(flagged: Mask, judged: Entries, chosen: Mask) -> Array:
    """Flagged shares of the chosen entries (entry,), by target that has any; flagged: (target, record)."""
    targets = judged.target[chosen]
    hits = np.bincount(targets, flagged[targets, judged.record[chosen]])
    counts = np.bincount(targets)
    return hits[counts > 0] / counts[counts > 0]
