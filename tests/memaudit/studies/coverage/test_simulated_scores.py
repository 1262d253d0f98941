"""Simulated score matrices have the membership and the true metrics that are stated."""

import numpy as np
import pytest
from scipy.stats import norm

from memaudit.studies.coverage.simulated_scores import SCENARIOS, Population, balanced, draw, true_metrics


def test_true_metrics_are_those_of_normal_scores():
    """Two normals a shift apart: AUC Phi(d / sqrt 2), TPR Phi(d - z)."""
    plain = Population(shift=1.0, model_sd=0.0, record_sd=0.0)
    expected = norm.cdf(1 / np.sqrt(2)), norm.sf(norm.isf(0.1) - 1)
    assert true_metrics(plain) == pytest.approx(expected, abs=0.005)
    assert true_metrics(SCENARIOS["null"]) == pytest.approx((0.5, 0.1), abs=0.005)


def test_noise_lowers_the_auc_of_a_second_attack():
    assert true_metrics(SCENARIOS["strong"], 1.0)[0] < true_metrics(SCENARIOS["strong"])[0] - 0.02


def test_records_are_in_half_of_the_models_and_copies_share_their_shift():
    rng = np.random.default_rng(0)
    assert (balanced(10, 7, rng).sum(0) == 5).all()
    scores, member, shifts = draw(Population(records=5, shift_sd=1.0), rng, copies=3)
    assert scores.shape == member.shape == (16, 15)
    assert (shifts.reshape(5, 3) == shifts[::3, None]).all()
    assert (member.reshape(16, 5, 3) == member[:, ::3, None]).all()


def test_members_are_shifted_and_heavy_tails_are_heavy():
    rng = np.random.default_rng(1)
    scores, member, shifts = draw(Population(models=400, records=50, shift=2.0, freedom=3), rng)
    assert scores[member].mean() - scores[~member].mean() == pytest.approx(2.0, abs=0.1)
    assert np.abs(scores - shifts * member).max() > 8
