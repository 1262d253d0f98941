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
INSIDE, UNDECIDED, OUTSIDE = "inside", "undecided", "outside"


def measured_rates(one: SettingFeatures, stated: Mapping[str, Any]) -> dict[str, Any]:
    """Measured TPR and FPR of a stated predictor and threshold on natural records of fresh targets, beside the stated.

    stated: a setting as `user_records.read_setting` returns it. Of each rate: stated and measured {estimate, low,
    high}, where the measured interval lies (`place`), and how many targets lie in the stated one, of those with such
    records.
    """
    name, threshold = stated["predictor"], stated["threshold"]
    scores = one.psmi
    if name in LEARNED:
        scores = Combination.read(stated, f"the stated predictor {name}").of_normal_scores(one.normal)
    found = {"predictor": name, "threshold": threshold}
    for rate in error_rates(scores, one.judged, threshold):
        ends = stated[rate.metric]["low"], stated[rate.metric]["high"]
        single = of_targets(scores >= threshold, one.judged, one.judged.memorized == (rate.metric == "tpr"))
        found[rate.metric] = {
            "stated": {part: stated[rate.metric][part] for part in ("estimate", "low", "high")},
            "measured": {"estimate": rate.estimate, "low": rate.low, "high": rate.high},
            "place": place(ends, (rate.low, rate.high)),
            "targets": len(single),
            "targets_inside": int(((ends[0] <= single) & (single <= ends[1])).sum()),
        }
    return found


def place(stated: tuple[float, float], measured: tuple[float, float]) -> str:
    """Where a measured interval lies: inside the stated one, outside it, or undecided, holding one of its ends."""
    if stated[0] <= measured[0] and measured[1] <= stated[1]:
        return INSIDE
    return OUTSIDE if measured[1] < stated[0] or stated[1] < measured[0] else UNDECIDED


def of_targets(flagged: Mask, judged: Entries, chosen: Mask) -> Array:
    """Flagged shares of the chosen entries (entry,), by target that has any; flagged: (target, record)."""
    targets = judged.target[chosen]
    hits = np.bincount(targets, flagged[targets, judged.record[chosen]])
    counts = np.bincount(targets)
    return hits[counts > 0] / counts[counts > 0]
