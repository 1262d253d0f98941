"""A learned predictor of memorization: fitted on some settings, its penalty and threshold chosen on these alone.

Logistic regression with an L2 penalty on normal scores (`attacks.learned_memorization`). Every setting has the same
weight, and in it memorized records and others: settings differ in size and in how much is memorized, and neither says
which records are.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from sklearn.linear_model import LogisticRegression

from memaudit.attacks.learned_memorization import Combination
from memaudit.common.arrays import Array, Mask
from memaudit.statistics import roc
from memaudit.studies.predict.recommended_thresholds import best_threshold
from memaudit.studies.predict.setting_features import SettingFeatures

PENALTIES = (10.0, 1.0, 0.1, 0.01)  # on half the squared length of the weights, beside a mean loss in nats


@dataclass(frozen=True)
class Learned:
    """A fitted combination. threshold: least score of a flag; penalty: of its fit, by transfer to left-out settings."""

    combination: Combination
    threshold: float
    penalty: float


def learn(settings: Sequence[SettingFeatures], features: tuple[str, ...]) -> Learned:
    """The combination of these features that is learned from settings.

    The penalty has the largest mean AUC on the settings of each source in turn, left out of the fit; of one source,
    where nothing can be left out, it is the strongest. The threshold has the largest TPR - FPR, means over settings.
    """
    penalty = max(PENALTIES, key=lambda penalty: transfer(settings, features, penalty))
    combination = fit(settings, features, penalty)
    scores = np.concatenate([scored(combination, one) for one in settings])
    return Learned(combination, best_threshold(scores, *_truth(settings)), penalty)


def transfer(settings: Sequence[SettingFeatures], features: tuple[str, ...], penalty: float) -> float:
    """Mean AUC on each setting of the combination that is fitted to those of other sources; 0 for one source."""
    if len({one.source for one in settings}) < 2:
        return 0.0
    areas = []
    for source in dict.fromkeys(one.source for one in settings):
        combination = fit([one for one in settings if one.source != source], features, penalty)
        left_out = [one for one in settings if one.source == source]
        areas += [roc.auc(scored(combination, one), one.judged.memorized) for one in left_out]
    return float(np.mean(areas))


def fit(settings: Sequence[SettingFeatures], features: tuple[str, ...], penalty: float) -> Combination:
    """Weights of the features with a given penalty."""
    inputs = np.concatenate([np.stack([one.values(name) for name in features], axis=1) for one in settings])
    truth, weights = _truth(settings)
    model = LogisticRegression(C=1 / penalty, max_iter=1000).fit(inputs, truth, sample_weight=weights)
    return Combination(features, model.coef_[0])


def scored(combination: Combination, setting: SettingFeatures) -> Array:
    """Scores of a setting's judged entries, (entry,)."""
    return combination.of_normal_scores({name: setting.values(name) for name in combination.features})


def shuffled(setting: SettingFeatures, rng: np.random.Generator) -> SettingFeatures:
    """The setting with its truth shuffled among the records of each target: there is nothing to learn."""
    memorized, target = setting.judged.memorized.copy(), setting.judged.target
    for one in np.unique(target):
        memorized[target == one] = rng.permutation(memorized[target == one])
    return replace(setting, judged=replace(setting.judged, memorized=memorized))


def _truth(settings: Sequence[SettingFeatures]) -> tuple[Mask, Array]:
    """Truth of all entries, and their weights: 1 in all, equal for each setting and in it for each class."""
    weights = [
        np.where(truth, 0.5 / truth.sum(), 0.5 / (~truth).sum()) / len(settings)
        for truth in (one.judged.memorized for one in settings)
    ]
    return np.concatenate([one.judged.memorized for one in settings]), np.concatenate(weights)
