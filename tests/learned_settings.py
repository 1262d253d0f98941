"""Synthetic settings for the learned predictor: normal scores, of which some say something about the truth."""

import numpy as np

from memaudit.attacks.learned_memorization import ALL, tied_normal_scores
from memaudit.statistics.attack_performance import Estimate
from memaudit.studies.predict.prediction_metrics import member_entries
from memaudit.studies.predict.setting_features import SettingFeatures

SECONDS = {"base": 2.0, "earlier": 0.5, "psmi": 1.0, "mahalanobis": 0.25, "features": 0.5}


def setting(number, strengths, targets=3, records=160, share=0.15, chance=0.001, source=None):
    """A setting whose features have these mean differences, in deviations, between memorized records and others."""
    rng = np.random.default_rng([7, number])
    member = rng.random((targets, records)) < 0.5
    memorized = member & (rng.random((targets, records)) < share)
    normal = {}
    for name in ALL:
        values = np.where(member, rng.normal(size=member.shape) + strengths.get(name, 0.0) * memorized, np.nan)
        for row, own in zip(values, member, strict=True):
            row[own] = tied_normal_scores(row[own])
        normal[name] = values
    judged = member_entries(memorized, member, rng, replicates=60)
    observed = float(memorized[member].mean())
    estimate = Estimate("memorized", observed, 0.8 * observed, 1.2 * observed, int(member.sum()), "made up", chance)
    beyond = 0.8 * observed - 5 * chance
    drops = np.linspace(0.94, 0.96, targets)
    return SettingFeatures(
        f"s{number}", source or f"data{number}", normal, normal["psmi"], judged, estimate, beyond, drops, 64, SECONDS
    )


def settings(count, strengths, **options):
    """Several such settings."""
    return [setting(number, strengths, **options) for number in range(count)]
