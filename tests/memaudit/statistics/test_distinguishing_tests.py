"""Bounds from many runs, on Gaussian mechanisms of known mu."""

import numpy as np
import pytest

from memaudit.privacy.accounting import gaussian_sigma
from memaudit.statistics.distinguishing_tests import bound_of_rates, distinguish, epsilon_of_mu, largest_bound

MU, RUNS, LEVEL = 0.5, 4000, 0.05


def bounds(mu, simulations=100, shape=(RUNS, 3)):
    """Bounds on a mechanism of three numbers, of which the first two show the record."""
    rng = np.random.default_rng(1)
    shift = np.array([mu, mu, 0.0]) / np.sqrt(2)
    pairs = ((rng.normal(size=shape) + shift, rng.normal(size=shape)) for _ in range(simulations))
    return np.array([distinguish(*pair, LEVEL).mu for pair in pairs])


def test_one_bound_in_twenty_at_most_exceeds_the_truth_and_all_come_near():
    found = bounds(MU)
    assert np.mean(found > MU) <= 0.1  # 100 simulations
    assert np.median(found) == pytest.approx(largest_bound(MU, round(0.75 * RUNS), LEVEL), abs=0.03)


def test_no_difference_refutes_nothing():
    assert np.mean(bounds(0.0, 40) > 0) <= 0.15


def test_a_number_that_shows_the_record_each_time_refutes_any_mu():
    rng = np.random.default_rng(2)
    outside = np.column_stack([rng.normal(size=RUNS), np.zeros(RUNS)])
    found = distinguish(outside + np.array([0, 1]), outside, LEVEL)
    assert (found.tpr, found.fpr) == (1, 0)
    assert found.mu > 6
    assert distinguish(np.zeros((RUNS, 1)), np.zeros((RUNS, 1)), LEVEL).mu == 0


@pytest.mark.parametrize(("epsilon", "delta"), [(1, 1e-5), (10, 1e-5), (0.1, 1e-6)])
def test_epsilon_of_mu_is_that_of_the_gaussian(epsilon, delta):
    assert epsilon_of_mu(1 / gaussian_sigma(epsilon, delta), delta) == pytest.approx(epsilon)


def test_the_ends_of_epsilon():
    assert epsilon_of_mu(0.0, 1e-5) == epsilon_of_mu(1e-6, 1e-5) == 0
    assert epsilon_of_mu(1e3, 1e-5) == np.inf


def test_the_bound_of_a_test_follows_from_its_rates():
    rng = np.random.default_rng(0)
    found = distinguish(rng.normal(1, 1, (200, 1)), rng.normal(0, 1, (200, 1)), 0.05)
    assert found.mu > 0
    assert bound_of_rates(found.tpr, found.fpr, found.runs, 0.05) == found.mu
    assert bound_of_rates(found.tpr, found.fpr, found.runs, 0.01) < found.mu
