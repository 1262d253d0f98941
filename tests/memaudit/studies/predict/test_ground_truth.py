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
    second = np.arange(64) % 2 == 1
    observed, attainable = ground_truth.agreement(*grid(gaps, 64), second, np.random.default_rng(0), replicates=50)
    assert attainable.estimate > attainable.null == 0.75
    assert observed.estimate > 0.75
    assert observed.low < observed.estimate < observed.high
    assert observed.p_value < 0.05


def test_definitions_cannot_agree_where_no_record_differs():
    """What two halves of the models do not share, two definitions cannot share either."""
    second = np.arange(32) % 2 == 1
    _, attainable = ground_truth.agreement(*grid(np.zeros(150), 32), second, np.random.default_rng(0), replicates=50)
    assert attainable.estimate < 0.6
    assert len(ground_truth.agreement(*grid(np.zeros(50), 8), second[:8], np.random.default_rng(0))) == 1


def test_either_half_of_the_models_has_its_own_truth():
    signals, membership = grid(np.repeat([0.0, 8.0], 100), 64)
    second = np.arange(64) % 2 == 1
    one, other = ground_truth.halves(signals, membership, second, 2)
    np.testing.assert_allclose(one[0], ground_truth.log_lira(signals[::2], membership[::2], 1)[0])
    used = np.concatenate([[0], np.flatnonzero(second)])
    np.testing.assert_allclose(other[0], ground_truth.log_lira(signals[used], membership[used], 1)[0])
    assert ground_truth.halves(signals[:8], membership[:8], second[:8], 2) is None


def test_records_that_models_without_them_take_for_another_class_are_ambiguous():
    membership = np.array([[True, False, True], [False, True, False], [False, False, False]])
    signals = np.array([[-9.0, 1, 1], [-1, 1, 1], [-1, 1, -1]])
    found = ground_truth.ambiguity(signals, membership, np.ones(3, bool))
    assert found.estimate == pytest.approx(1 / 3)  # the last record: one of two models
    assert ground_truth.ambiguity(signals, membership, np.array([False, True, True])).estimate == 0


def test_models_whose_halves_are_not_balanced_have_no_halves():
    """18 models are one block: a half of nine may have seen a record nine times."""
    signals, membership = grid(np.zeros(40), 18)
    membership[:, 0] = np.arange(18) < 9
    second = np.arange(18) >= 9
    assert ground_truth.halves(signals, membership, second, 2) is None
    assert len(ground_truth.agreement(signals, membership, second, np.random.default_rng(0), replicates=20)) == 1
