"""Ground truth by brute force: log-LiRA, global LiRA and counterfactual memorization."""

import numpy as np
import pytest
from scipy.stats import norm
from simulated_predictions import grid

from memaudit.studies.predict import ground_truth


def test_log_lira_is_the_ratio_of_gaussians_of_all_other_models():
    signals, membership = grid([0, 1, 3, 6])
    observed = ground_truth.log_lira(signals, membership, targets=2)
    assert observed.shape == (2, 4)
    for target, record in np.ndindex(2, 4):
        others = np.arange(32) != target
        logs = []
        for inside in (membership[:, record], ~membership[:, record]):
            shadow = signals[others & inside, record]
            logs.append(norm(shadow.mean(), shadow.std()).logpdf(signals[target, record]))
        assert observed[target, record] == pytest.approx(logs[0] - logs[1])


def test_log_lira_takes_the_calibrations_options():
    signals, membership = grid([0, 1, 3])
    assert (
        ground_truth.log_lira(signals, membership, convention="ddof1") != ground_truth.log_lira(signals, membership)
    ).all()


def test_global_lira_is_the_share_of_correct_membership_predictions():
    signals, membership = grid([0, 2], 12)
    observed = ground_truth.attack_success(signals, membership, leave="self")
    for record in range(2):
        right = [
            ground_truth.log_lira(np.roll(signals, -m, 0), np.roll(membership, -m, 0))[0, record] for m in range(12)
        ]
        assert observed[record] == np.mean((np.array(right) > 0) == membership[:, record])


def test_global_lira_without_a_leak_is_right_half_of_the_time():
    observed = ground_truth.attack_success(*grid(np.zeros(400)))
    assert observed.mean() == pytest.approx(0.5, abs=0.02)
    assert ground_truth.attack_success(*grid(np.full(20, 12.0))).mean() > 0.99


def test_counterfactual_memorization_is_the_mean_in_less_the_mean_out():
    signals, membership = grid([0.0, 3.0])
    expected = [signals[membership[:, r], r].mean() - signals[~membership[:, r], r].mean() for r in range(2)]
    np.testing.assert_allclose(ground_truth.counterfactual_memorization(signals, membership), expected)


def test_global_lira_and_counterfactual_memorization_agree_where_records_differ():
    """Appendix A.3 finds .75 to .88."""
    gaps = np.linspace(0, 3, 150)
    observed = ground_truth.agreement(*grid(gaps, 64), np.random.default_rng(0), replicates=50)
    assert observed.estimate > 0.75
    assert observed.low < observed.estimate < observed.high
    assert observed.p_value < 0.05
