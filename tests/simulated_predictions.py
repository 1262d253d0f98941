"""Simulated signals of shadow models, and scores of predictors with a planted difference."""

import numpy as np

from memaudit.studies.predict.prediction_metrics import member_entries


def grid(gaps, models=32, seed=0):
    """Signals of deviation 1, higher by `gaps` for members; a balanced membership matrix."""
    rng = np.random.default_rng(seed)
    membership = rng.random((models, len(gaps))).argsort(0).argsort(0) < models // 2
    return membership * np.asarray(gaps) + rng.standard_normal(membership.shape), membership


def planted(records=200, targets=1, share=0.3, shift=1.0, seed=0):
    """Scores (target, record), N(shift, 1) where memorized and N(0, 1) elsewhere; three entries in four are members."""
    rng = np.random.default_rng(seed)
    memorized = rng.random((targets, records)) < share
    return rng.normal(size=memorized.shape) + shift * memorized, memorized, rng.random(memorized.shape) < 0.75


def judged(memorized, member=None, seed=0, **options):
    member = np.ones_like(memorized) if member is None else member
    return member_entries(memorized, member, np.random.default_rng(seed), **options)


def values(estimates):
    return {estimate.metric: estimate.estimate for estimate in estimates}
