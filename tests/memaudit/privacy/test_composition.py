"""Composition within a total: sums of budgets, of rho, and of mu^2, each against its closed form."""

import math

import pytest

from memaudit.privacy.accounting import Budget, gaussian_delta, rho_within
from memaudit.privacy.composition import Cost, added, fits, so_far
from memaudit.privacy.guarantee import Guarantee

TOTAL = Budget(1.0, 1e-5)


def gaussian(mu):
    return Guarantee(mu**2 / 2, ((1, mu * 1e6, 1e6),))


def largest_mu(total):
    low, high = 1e-3, 10.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if gaussian_delta(total.epsilon, 1 / middle) <= total.delta else (low, middle)
    return low


def test_budgets_add_up_as_decimals():
    assert added([Budget(0.1, 1e-8)] * 10) == Budget(1.0, 1e-7)
    assert fits([Cost(Budget(0.1, 1e-6))] * 10, TOTAL)
    assert not fits([Cost(Budget(0.1, 1e-6))] * 11, TOTAL)


def test_gaussians_fit_up_to_the_mu_of_the_total():
    mu = largest_mu(TOTAL)
    each = [Cost(TOTAL, gaussian(mu / math.sqrt(4) * factor)) for factor in (0.9999,)] * 4
    assert fits(each, TOTAL)
    assert not fits([*each, Cost(TOTAL, gaussian(mu / 20))], TOTAL)


def test_noise_known_by_rho_alone_fits_up_to_the_rho_of_the_total():
    rho = rho_within(TOTAL)
    assert fits([Cost(TOTAL, Guarantee(rho / 2))] * 2, TOTAL)
    assert not fits([Cost(TOTAL, Guarantee(rho / 2))] * 2 + [Cost(TOTAL, Guarantee(rho / 1000))], TOTAL)


def test_coarse_noise_counts_by_its_rho():
    """Of noise on a coarse lattice the distributions are known, but not for releases chosen one after the other."""
    rho = rho_within(TOTAL)
    coarse = Guarantee(rho, ((1, 1.0, 1 / math.sqrt(2 * rho)),))
    assert fits([Cost(Budget(0.9, 1e-5), coarse)], TOTAL)
    assert not fits([Cost(Budget(0.9, 1e-5), coarse), Cost(Budget(0.2, 1e-5), gaussian(0.01))], TOTAL)


@pytest.mark.parametrize(("earlier", "fit"), [(0.2, True), (0.9, False), (1.0, False)])
def test_a_release_of_unknown_noise_leaves_what_its_epsilon_and_delta_leave(earlier, fit):
    small = Cost(Budget(0.9, 1e-5), gaussian(largest_mu(Budget(0.75, 9e-6))))
    assert fits([Cost(Budget(earlier, 1e-6)), small], TOTAL) == fit


def test_what_holds_so_far_is_the_sum_or_the_total():
    assert so_far([Cost(Budget(0.5, 1e-6))], TOTAL) == Budget(0.5, 1e-6)
    assert so_far([Cost(Budget(0.5, 1e-6))] * 4, TOTAL) == TOTAL


@pytest.mark.parametrize("count", [2, 4, 9])
def test_what_gaussians_guarantee_so_far_is_that_of_one_gaussian(count):
    """Mu of n equal ones is sqrt(n) times that of one: far below n times epsilon, at the delta of the total."""
    total, mu = Budget(9.0, 1e-5), largest_mu(Budget(1.0, 1e-6))
    together = so_far([Cost(Budget(1.0, 1e-6), gaussian(mu))] * count, total)
    assert together.delta == total.delta
    assert gaussian_delta(together.epsilon, 1 / (mu * math.sqrt(count))) == pytest.approx(total.delta, rel=5e-3)
    assert together.epsilon < 0.8 * count
    assert fits([Cost(Budget(1.0, 1e-6), gaussian(mu))] * count, together)


def test_what_holds_so_far_counts_unknown_noise_by_its_budget_and_coarse_noise_by_rho():
    total, mu = Budget(9.0, 1e-5), largest_mu(Budget(1.0, 1e-6))
    known = so_far([Cost(Budget(1.0, 1e-6), gaussian(mu))] * 4, Budget(9.0, 9e-6))
    mixed = so_far([Cost(Budget(0.5, 1e-6)), *[Cost(Budget(1.0, 1e-6), gaussian(mu))] * 4], total)
    assert mixed == Budget(0.5 + known.epsilon, 1e-5)
    coarse = so_far([Cost(Budget(3.0, 1e-5), Guarantee(0.1))] * 2, total)
    assert coarse.epsilon == pytest.approx(Guarantee(0.2).epsilon(1e-5))


def test_the_total_bounds_what_holds_so_far():
    """Releases that the filters allowed never print more than the total, whatever the rounding of an epsilon."""
    rho = rho_within(TOTAL)
    assert so_far([Cost(TOTAL, Guarantee(rho / 2))] * 2, TOTAL).epsilon <= TOTAL.epsilon
