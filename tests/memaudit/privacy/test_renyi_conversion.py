"""Epsilon of a Renyi divergence agrees with the conversion of zCDP and with dp_accounting."""

import numpy as np
import pytest
from dp_accounting.rdp.rdp_privacy_accountant import compute_epsilon

from memaudit.privacy.accounting import ORDERS, Budget, rho_within
from memaudit.privacy.renyi_conversion import deltas_of_rdp, epsilon_of_rdp


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 10.0])
def test_the_largest_rho_of_a_budget_has_its_epsilon(epsilon):
    rho = rho_within(Budget(epsilon, 1e-5))
    assert epsilon_of_rdp(ORDERS, ORDERS * rho, 1e-5).min() == pytest.approx(epsilon, rel=1e-6)


def test_it_is_at_most_that_of_dp_accounting():
    orders = np.array([1.5, 2.0, 8.0, 32.0])
    theirs, _ = compute_epsilon(orders, orders * 0.02, 1e-5)
    assert epsilon_of_rdp(orders, orders * 0.02, 1e-5).min() == pytest.approx(theirs)


def test_no_divergence_at_a_large_delta_costs_nothing():
    assert epsilon_of_rdp(np.array([2.0]), np.array([0.0]), 0.9) == 0


def test_deltas_and_epsilons_are_inverse():
    deltas = deltas_of_rdp(ORDERS[::50], 0.02 * ORDERS[::50], np.array([0.5, 1.0, 2.0]))
    for epsilon, delta in zip([0.5, 1.0, 2.0], deltas, strict=True):
        assert epsilon_of_rdp(ORDERS[::50], 0.02 * ORDERS[::50], delta).min() == pytest.approx(epsilon)
