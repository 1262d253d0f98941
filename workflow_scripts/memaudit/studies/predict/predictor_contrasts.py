"""Differences between predictors of memorization on the same (target, record) entries, under common bootstrap weights.

"Predicting memorization within LLMs fine-tuned for classification", Sections 5.2 to 5.8.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import combinations

import numpy as np

from memaudit.common.arrays import Array
from memaudit.statistics import bootstrap
from memaudit.statistics.attack_performance import Estimate
from memaudit.studies.predict import prediction_metrics
from memaudit.studies.predict.prediction_checkpoints import BASELINE
from memaudit.studies.predict.prediction_metrics import Entries
from memaudit.studies.predict.recommended_thresholds import PSMI_THRESHOLD

PSMI = "psmi"


def class_gap(values: Array, judged: Entries, metric: str) -> Estimate:
    """Mean of the memorized entries less that of the others; values: (target, record)."""
    values, weights = values[judged.target, judged.record], np.vstack([np.ones(len(judged.memorized)), judged.weights])
    with np.errstate(invalid="ignore"):
        one, two = (((weights * of) @ values) / (weights @ of) for of in (judged.memorized, ~judged.memorized))
    return _estimate(metric, one - two, judged)


def auc_gap(one: tuple[Array, Entries], other: tuple[Array, Entries], metric: str) -> Estimate:
    """AUC of scores (target, record) on some entries less that of others, replicate by replicate.

    Paired where the weights of both entries come from one state of the generator.
    """
    first, second = (prediction_metrics.auc_samples(*pair) for pair in (one, other))
    return _estimate(metric, first - second, min((one[1], other[1]), key=lambda judged: len(judged.memorized)))


def from_psmi(scores: Array, psmi: Array, judged: Entries) -> Estimate:
    """AUC of scores less that of PSMI on the same entries."""
    return auc_gap((scores, judged), (psmi, judged), "auc difference from psmi")


def between_predictors(
    scores: Mapping[str, Array], judged: Entries, memorized: Entries | None
) -> Iterator[tuple[str, Estimate]]:
    """AUC of each predictor less PSMI's; with `memorized`, also less its own AUC on those entries. By name.

    scores: (target, record) of each predictor. The baseline is compared with by `prediction_metrics.judge`.
    """
    for name, values in scores.items():
        if name not in (PSMI, BASELINE):
            yield name, from_psmi(values, scores[PSMI], judged)
        if memorized is not None:
            yield name, auc_gap((values, judged), (values, memorized), "auc difference from memorized")


def pairs(scores: Mapping[str, Array], judged: Entries) -> Iterator[tuple[str, Estimate]]:
    """AUC of each predictor less that of each later one on the same entries, by name `one - other`."""
    samples = {name: prediction_metrics.auc_samples(values, judged) for name, values in scores.items()}
    for one, other in combinations(samples, 2):
        yield f"{one} - {other}", _estimate("auc difference of two", samples[one] - samples[other], judged)


def truth_agreement(halves: tuple[Array, Array], judged: Entries, threshold: float) -> Estimate:
    """Of the entries that one half of the models calls memorized, the share that the other half calls so, too.

    halves: log-LiRA (target, record) by either. Both ways: 2 |both| / (|one| + |other|) (Dice). Its null is what two
    independent halves would share: twice the product of their shares over the sum.
    """
    one, other = ((values[judged.target, judged.record] >= threshold).astype(float) for values in halves)
    weights = np.vstack([np.ones(len(one)), judged.weights])
    both, first, second = (weights @ values for values in (one * other, one, other))
    with np.errstate(invalid="ignore"):
        samples = 2 * both / (first + second)
        null = 2 * first[0] * second[0] / (first[0] + second[0]) / len(one)
    ends = bootstrap.two_way_interval(samples[1:], float(samples[0]), judged.drawn(one + other > 0), 0, 1)
    method = f"{judged.method}; truths by either half of the models"
    return Estimate("truth agreement", float(samples[0]), *ends, int(max(first[0], second[0])), method, float(null))


def at_thresholds(
    scores: Mapping[str, Array], judged: Entries, threshold: float, later: Array
) -> Iterator[tuple[dict[str, str], Estimate]]:
    """Contrasts at fixed thresholds, with their keys.

    PSMI of memorized entries less that of others; TPR less FPR of PSMI at 0; and TPR of the baseline at `threshold`,
    that of memorization: less that of PSMI at 0, and less its own `later` in training (target, record).
    """
    yield {"cells": "memorized - others"}, class_gap(-scores[PSMI], judged, "psmi difference")
    flagged = (scores[PSMI] >= PSMI_THRESHOLD).astype(float)
    yield {"predictor": PSMI, "tau": f"{PSMI_THRESHOLD:g}"}, class_gap(flagged, judged, "tpr less fpr")
    keys, early = {"predictor": BASELINE, "tau": f"{threshold:g}"}, (scores[BASELINE] >= threshold).astype(float)
    contrasts = {"tpr difference from psmi": flagged, "tpr difference from later": (later >= threshold).astype(float)}
    for metric, other in contrasts.items():
        yield keys, replace(prediction_metrics.means(early - other, judged)[0], metric=metric, null=0.0)


def _estimate(metric: str, samples: Array, judged: Entries) -> Estimate:
    """Of samples (1 + replicate,), the observed one first."""
    method = f"{judged.method}, common weights"
    ends = bootstrap.two_way_interval(samples[1:], float(samples[0]), judged.drawn_of_rarer)
    return Estimate(metric, float(samples[0]), *ends, len(judged.memorized), method, 0.0)
