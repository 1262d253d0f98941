"""Bounds on epsilon from refits: their coverage on a mechanism of known epsilon, and the most that they can show."""

import numpy as np
import pytest

from memaudit.common.errors import AuditError
from memaudit.privacy.accounting import gaussian_sigma
from memaudit.statistics.refit_bounds import audit_refits, largest_epsilon

DELTA = 1e-5


def bound(rng, sigma, number):
    member = np.tile([True, False], number)
    return audit_refits("score", member + sigma * rng.standard_normal(2 * number), member, DELTA, rng)


@pytest.mark.parametrize(("epsilon", "number"), [(0.05, 20), (1.0, 20), (1.0, 200)])
def test_the_bound_exceeds_the_epsilon_of_a_correct_mechanism_in_at_most_one_of_twenty_runs(epsilon, number):
    rng, sigma = np.random.default_rng(0), gaussian_sigma(epsilon, DELTA)
    refuted = [bound(rng, sigma, number).epsilon > epsilon for _ in range(400)]
    assert np.mean(refuted) <= 0.05


def test_of_randomized_response_the_bound_is_below_its_epsilon_in_nineteen_of_twenty_runs_and_close():
    rng, member = np.random.default_rng(0), np.tile([True, False], 200)
    right = rng.random((400, 400)) < np.exp(1) / (1 + np.exp(1))  # epsilon 1, delta 0: as much as a bound can find
    found = [audit_refits("bit", np.where(one, member, ~member).astype(float), member, 0.0, rng) for one in right]
    assert np.mean([point.epsilon > 1 for point in found]) <= 0.05
    assert np.median([point.epsilon for point in found]) > 0.6


def test_without_noise_the_bound_is_the_largest_one():
    point = bound(np.random.default_rng(0), 1e-3, 20)
    assert (point.tpr, point.fpr) == (1, 0)
    assert point.epsilon == pytest.approx(largest_epsilon(20, 20, DELTA))


def test_the_largest_bound_is_that_of_a_test_without_an_error_and_grows_with_the_refits():
    low = 0.025 ** (1 / 20)
    assert largest_epsilon(20, 20, 0.0) == pytest.approx(np.log(low / (1 - low)))
    assert largest_epsilon(10, 10, DELTA) < largest_epsilon(20, 20, DELTA) < largest_epsilon(400, 400, DELTA) < 5


def test_equal_scores_show_nothing_and_single_refits_are_refused():
    member = np.tile([True, False], 10)
    assert audit_refits("score", np.zeros(20), member, DELTA, np.random.default_rng(0)).epsilon == 0
    with pytest.raises(AuditError, match="fewer than two refits"):
        audit_refits("score", np.zeros(3), np.array([True, False, False]), DELTA, np.random.default_rng(0))
