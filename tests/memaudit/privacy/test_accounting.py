"""Costs are the published ones, never below the truth, and a filter never gives out more than it has."""

import time

import numpy as np
import pytest
from dp_accounting import GaussianDpEvent
from dp_accounting.rdp import RdpAccountant

from memaudit.common.errors import AuditError
from memaudit.privacy import accounting
from memaudit.privacy.accounting import (
    Budget,
    Filter,
    clearly_exceeds,
    delta_of,
    gaussian_delta,
    gaussian_sigma,
    rho_within,
)

DELTA = 1e-5
BUDGETS = [Budget(0.1, 1e-8), Budget(1, DELTA), Budget(10, DELTA), Budget(50, 1e-3)]


def epsilons_of(rho, delta, orders=accounting.ORDERS):
    """Epsilon of rho-zCDP at each Renyi order (Canonne, Kamath and Steinke 2020, Proposition 12)."""
    return rho * orders + np.log1p(-1 / orders) - np.log(delta * orders) / (orders - 1)


def epsilon_of(rho, delta):
    return epsilons_of(rho, delta).min()


@pytest.mark.parametrize(("epsilon", "sigma"), [(1, 3.73063), (10, 0.49989)])
def test_gaussian_calibration_is_the_analytic_one(epsilon, sigma):
    assert gaussian_sigma(epsilon, DELTA) == pytest.approx(sigma, abs=1e-5)
    assert gaussian_delta(epsilon, 2 * gaussian_sigma(epsilon, DELTA), 2) == pytest.approx(DELTA)


def test_the_textbook_calibration_is_not_private_at_epsilon_10():
    textbook = np.sqrt(2 * np.log(1.25 / DELTA)) / 10
    assert textbook == pytest.approx(0.4845, abs=1e-4)
    assert gaussian_delta(10, textbook) > DELTA


@pytest.mark.parametrize(
    ("budget", "records"),
    [(Budget(0, DELTA), 10), (Budget(np.nan, DELTA), 10), (Budget(1, 0), 10), (Budget(1, 0.11), 10)],
)
def test_a_budget_without_a_guarantee_is_refused(budget, records):
    with pytest.raises(AuditError, match="budget"):
        budget.checked(records)
    assert Budget(1, 0.1).checked(10) == Budget(1, 0.1)


@pytest.mark.parametrize("budget", BUDGETS)
def test_rho_within_a_budget_is_the_largest_that_the_rdp_accountant_allows(budget):
    rho = rho_within(budget)
    orders = 1 + np.geomspace(0.02, 1e5, 3000)
    epsilons = [
        RdpAccountant(orders).compose(GaussianDpEvent(1 / np.sqrt(2 * share * rho))).get_epsilon(budget.delta)
        for share in (1, 1.0001)
    ]
    assert epsilons[0] == pytest.approx(budget.epsilon, rel=1e-4)
    assert epsilon_of(rho, budget.delta) <= budget.epsilon < epsilon_of(1.0001 * rho, budget.delta)
    assert budget.epsilon < epsilons[1]


@pytest.mark.parametrize("budget", BUDGETS)
def test_rho_within_a_budget_is_private_in_truth(budget):
    assert 0.5 * budget.delta**2 < gaussian_delta(budget.epsilon, 1 / np.sqrt(2 * rho_within(budget))) < budget.delta


@pytest.mark.parametrize("budget", BUDGETS)
def test_one_fixed_order_reaches_the_budget(budget):
    order = accounting.ORDERS[accounting._rho_at(accounting.ORDERS, budget).argmax()]
    at_order = epsilons_of(rho_within(budget), budget.delta, order)
    assert at_order == pytest.approx(budget.epsilon, rel=1e-6)
    assert at_order <= budget.epsilon


def test_a_filter_spends_all_that_it_has_and_no_more():
    for cost in np.random.default_rng(0).random(200):
        allowance = Filter(1000 * cost)
        assert allowance.times(cost, 2000) == 1000
        assert allowance.times(cost, 30) == 30
        for _ in range(1000):
            allowance.charge(cost)
        assert not allowance.allows(1e-3 * cost)
        assert allowance.times(cost, 2000) == 0
        with pytest.raises(AuditError, match="left"):
            allowance.charge(cost)
        assert allowance.spent == pytest.approx(1000 * cost, rel=1e-9)


@pytest.mark.parametrize("rho", [-0.1, np.nan, np.inf])
def test_no_charge_fills_a_filter_up_again(rho):
    allowance = Filter(1.0, spent=0.9)
    with pytest.raises(AuditError, match="left"):
        allowance.charge(rho)
    assert allowance.left == pytest.approx(0.1)


def test_the_slack_of_a_full_filter_is_within_the_budget():
    budget = Budget(1, DELTA)
    allowance = Filter(rho_within(budget))
    while allowance.allows(rest := allowance.rho * (1 + 0.999 * accounting.ROUNDING) - allowance.spent) and rest > 0:
        allowance.charge(rest)
    assert allowance.spent > allowance.rho
    assert epsilon_of(allowance.spent, budget.delta) <= budget.epsilon


def test_a_hundred_thousand_charges_take_less_than_a_second():
    start = time.process_time()
    allowance = Filter(1.0)
    for _ in range(100_000):
        allowance.charge(1e-5)
    assert time.process_time() - start < 1


def discrete(sigma):
    support = np.arange(-200, 201)
    weights = np.exp(-(support**2) / (2 * sigma**2))
    return weights / weights.sum()


@pytest.mark.parametrize(("sigma", "sensitivity", "epsilon"), [(1.0, 1, 1.5), (0.5, 1, 3.0), (4.0, 3, 2.0)])
def test_delta_of_discrete_gaussians_is_that_of_the_sums_over_integers(sigma, sensitivity, epsilon):
    here, there = discrete(sigma), np.roll(discrete(sigma), sensitivity)
    single = np.maximum(here - np.exp(epsilon) * there, 0).sum()
    double = np.maximum(np.outer(here, here) - np.exp(epsilon) * np.outer(there, there), 0).sum()
    for count, truth in ((1, single), (2, double)):
        bound = delta_of(epsilon, [(count, sensitivity, sigma)])
        assert truth * (1 - 1e-9) <= bound <= truth * 1.001
    assert delta_of(epsilon, [(1, sensitivity, sigma)] * 2) == pytest.approx(double, rel=1e-3)
    assert abs(gaussian_delta(epsilon, sigma, sensitivity) / single - 1) > 0.003


def test_thousands_of_releases_are_accounted_in_seconds_and_nearly_without_loss():
    start = time.process_time()
    bound = delta_of(10, [(20_000, 1, 70.0), (6_000, 1, 70.0), (0, 1, 1.0)])
    assert time.process_time() - start < 5
    truth = gaussian_delta(10, 70 / np.sqrt(26_000))
    assert truth < bound < 1.002 * truth
    assert delta_of(10, []) == 0


def test_fine_noise_is_accounted_as_slightly_less_continuous_noise(monkeypatch):
    mechanisms = [(5, 600, 1000.0)]
    continuous = delta_of(2, mechanisms)
    monkeypatch.setattr(accounting, "FINE", np.inf)
    accounting._loss.cache_clear()
    assert delta_of(2, mechanisms) < continuous < 1.001 * delta_of(2, mechanisms)
    assert gaussian_delta(2, 1000 / np.sqrt(5), 600) < continuous


def test_a_gaussian_rounded_by_a_discrete_gaussian_is_a_discrete_gaussian():
    """Accounting fine noise as continuous rests on this. The integral is a sum, exact for a smooth function."""
    rounder, sigma, points = 1.5, 3.0, np.arange(-60, 60, 1 / 64)
    support = np.arange(-40, 41)
    kernel = np.exp(-((support[:, None] - points) ** 2) / (2 * rounder**2))
    density = np.exp(-(points**2) / (2 * (sigma**2 - rounder**2)))
    mixed = (kernel / kernel.sum(axis=0) * density).sum(axis=1)
    exact = np.exp(-(support**2) / (2 * sigma**2))
    inner = np.abs(support) <= 15
    assert mixed[inner] / mixed.sum() == pytest.approx(exact[inner] / exact.sum(), rel=1e-9)


def exact_epsilon(sigma, count, delta):
    """Smallest epsilon of `count` counts that change by 1, by their losses (2 k + 1) / (2 sigma^2) one by one."""
    noise = np.exp(-(np.arange(-40, 41) ** 2) / (2 * sigma**2))
    chances = noise / noise.sum()
    whole = chances
    for _ in range(count - 1):
        whole = np.convolve(whole, chances)
    losses = (2 * np.arange(-40 * count, 40 * count + 1) + count) / (2 * sigma**2)
    low, high = 0.0, 1e4
    while high - low > 1e-6:
        middle = (low + high) / 2
        beyond = -np.expm1(np.minimum(0.0, middle - losses))
        low, high = (low, middle) if (whole * beyond).sum() <= delta else (middle, high)
    return high


@pytest.mark.parametrize("delta", [1e-12, 1e-8, 1e-5, 1e-2])
@pytest.mark.parametrize("count", [1, 2, 8])
def test_what_clearly_exceeds_a_budget_does_not_fit_it_by_its_exact_account(delta, count):
    for sigma in (0.1, 0.15, 0.2, 0.3, 0.5, 1.0, 3.0):
        fits = Budget(exact_epsilon(sigma, count, delta), delta)
        assert not clearly_exceeds(fits, [(count, 1, sigma)]), sigma


def test_tiny_noise_clearly_exceeds_a_budget_and_noise_near_the_limit_does_not():
    assert clearly_exceeds(Budget(1, DELTA), [(20, 1, 0.1)])
    assert not clearly_exceeds(Budget(1, DELTA), [(1, 1, gaussian_sigma(1, DELTA) / 2)])
