"""What the page of an audit of two files draws of the strongest score: its ROC curve with a band, and a histogram.

Scores of the two halves have different scales: rates are means over the halves, as the AUC is, and the histogram is of
normal scores within each half.
"""

from typing import Any

import numpy as np

from memaudit.common.arrays import Array
from memaudit.statistics import roc, roc_replicates
from memaudit.statistics.attack_performance import STRICT_ROC_FPRS
from memaudit.statistics.bootstrap import Weights, widened
from memaudit.statistics.score_histogram import EDGES, FEWEST_VALUES, histogram, normal_scores
from memaudit.statistics.two_file_attack import Attacked, fewer_units


def curves(attacked: Attacked, weights: Weights, fpr: float) -> dict[str, Any]:
    """ROC and histogram as facts for the summary; fpr: right of the histogram's threshold."""
    score = attacked.strongest()
    distinct = min(len(np.unique(score[side])) for side in attacked.sides)
    return {
        "roc": _roc(attacked, score, weights),
        "distinct": distinct,
        "scores": _histogram(attacked, score, fpr) if distinct >= FEWEST_VALUES else None,
    }


def _roc(attacked: Attacked, score: Array, weights: Weights) -> list[dict[str, float]]:
    """TPR with its 95 % interval at those of `STRICT_ROC_FPRS` that have one in both halves."""
    fprs = STRICT_ROC_FPRS[
        np.all([roc.resolved(STRICT_ROC_FPRS, attacked.member[side]) for side in attacked.sides], axis=0)
    ]
    observed, samples = [], []
    for side in attacked.sides:
        ranking = roc.rank(score[side], attacked.member[side])
        drawn = Weights(weights.models, weights.records[:, side], weights.units)
        samples.append(roc_replicates.tpr_replicates(ranking, fprs, (1, int(side.sum())), drawn))
        observed.append(roc.at_fpr(*roc.curve(ranking), fprs))
    units, points = fewer_units(attacked.member), []
    for rate, tpr, sample in zip(fprs, np.mean(observed, axis=0), np.mean(samples, axis=0).T, strict=True):
        low, high = widened(sample, tpr, units, 0, 1)
        points.append({"fpr": float(rate), "tpr": float(tpr), "low": float(low), "high": float(high)})
    return points


def _histogram(attacked: Attacked, score: Array, fpr: float) -> dict[str, Any] | None:
    normal = np.empty(len(score))
    for side in attacked.sides:
        normal[side] = normal_scores(score[side])
    found = histogram(normal[None], attacked.member[None], fpr)
    if found is None:
        return None
    shares = zip(EDGES[:-1], EDGES[1:], found.members, found.nonmembers, strict=True)
    names = ("low", "high", "members", "nonmembers")
    inside = int(attacked.member.sum())
    return {
        "bins": [dict(zip(names, map(float, one), strict=True)) for one in shares],
        "threshold": found.threshold,
        "members": inside,
        "nonmembers": len(score) - inside,
    }
