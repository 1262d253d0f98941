"""Property inference: detected shares, few contexts with many probes, the discriminant."""

import numpy as np
import pytest
from scipy.stats import norm

from memaudit.statistics import roc
from memaudit.studies.attacks import property_inference

FPRS = (0.1,)


def answers(seed, effect=0.0, models=48, probes=30):
    """Answers that two things in the context move together, and a property each in its own way."""
    rng = np.random.default_rng(seed)
    shown = np.arange(models) % 2 == 1
    shared = rng.normal(size=(models, 2)) @ rng.normal(size=(2, probes)) * 2
    return shared + rng.normal(size=(models, probes)) + effect * shown[:, None] * rng.normal(size=probes), shown, rng


def test_the_property_is_found_and_only_the_property():
    claimed, held, areas = 0, 0, []
    for seed in range(12):
        values, shown, rng = answers(seed, models=32)
        (auc, _), band = property_inference.judge_property(
            values, shown, fprs=FPRS, rng=rng, replicates=60, permutations=19, roc_fprs=np.array([0.5, 1.0])
        )
        areas.append(auc.estimate)
        claimed += auc.detected
        assert 0 <= auc.low <= auc.estimate <= auc.high <= 1
        assert (band[:, 1] <= band[:, 0]).all()
        assert "widened" in auc.method
        held += auc.low <= 0.5 <= auc.high
    assert claimed <= 2
    assert held >= 10
    assert 0.42 < np.mean(areas) < 0.56
    planted = [roc.auc(property_inference.scores(*answers(seed, effect=1.2)), answers(seed)[1]) for seed in range(5)]
    assert min(planted) > 0.85


def test_more_public_records_than_sets_do_not_fool_the_discriminant():
    """Fitted and scored on the same 16 sets, noise on 100 records would give an AUC of 1."""
    drawn = [answers(seed, models=16, probes=100) for seed in range(20)]
    assert 0.35 < np.mean([roc.auc(property_inference.scores(*one), one[1]) for one in drawn]) < 0.6


def test_the_discriminant_weighs_by_the_covariance_that_the_kinds_share():
    """Two probes that move together: their difference tells the kinds apart, though neither does alone."""
    rng = np.random.default_rng(0)
    shown = np.arange(400) % 2 == 1
    noise = rng.normal(size=(400, 2)) / 10
    values = rng.normal(size=(400, 1)) + noise + shown[:, None] * np.array([0.3, 0.0])
    assert roc.auc(values[:, 0], shown) < 0.62
    covariance, gap = np.array([[1.01, 1.0], [1.0, 1.01]]), np.array([0.3, 0.0])
    exact = np.linalg.solve(covariance, gap)
    best = norm.cdf((gap @ exact / 2) ** 0.5)
    assert roc.auc(property_inference.scores(values, shown, rng), shown) == pytest.approx(best, abs=0.03)
    weights, middle = property_inference._discriminant(values, shown)
    assert weights @ exact > 0.99 * np.linalg.norm(weights) * np.linalg.norm(exact)
    assert middle == pytest.approx((values[shown].mean(0) + values[~shown].mean(0)) / 2)
