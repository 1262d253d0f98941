"""Paid edges of bins: exact sensitivity, the budget that is left, narrow bins where many records are, and an audit."""

import numpy as np
import pytest
from private_records import UNSEEDED, Recorder, silent

from memaudit.privacy import noisy_bins
from memaudit.privacy.accounting import Budget, gaussian_rho, rho_within
from memaudit.privacy.discrete_noise import discrete_gaussian
from memaudit.privacy.noisy_bins import LEVELS, dyadic_counts, noisy_edges, remaining
from memaudit.statistics.epsilon_bounds import mu_lower_bound


def test_removing_any_row_moves_the_counts_by_exactly_the_stated_norm():
    positions = np.random.default_rng(0).random((30, 3))
    positions[:3] = [[0, 1, 0.5], [1, 1, 1], [0, 0, 0]]
    whole = dyadic_counts(positions)
    assert whole.shape == (3, 2 ** (LEVELS + 1) - 2)
    for row in range(30):
        assert ((whole - dyadic_counts(np.delete(positions, row, 0))) ** 2).sum() == LEVELS * 3


def test_the_noise_costs_what_it_is_given():
    noise = Recorder()
    noisy_edges(np.full((10, 4), 0.3), 0.02, 16, noise)
    assert len(noise.sigmas) == 1
    assert gaussian_rho(noise.sigmas[0], LEVELS * 4) == pytest.approx(0.02)


@pytest.mark.parametrize(("epsilon", "share"), [(1.0, 0.1), (10.0, 0.3)])
def test_bins_and_what_is_left_are_together_within_the_budget(epsilon, share):
    budget = Budget(epsilon, 1e-5)
    rho, left = remaining(budget, share)
    assert rho == pytest.approx(share * rho_within(budget))
    assert rho + rho_within(left) <= rho_within(budget)
    assert rho + rho_within(left) == pytest.approx(rho_within(budget), rel=2e-3)


@pytest.mark.parametrize("bins", [2, 16, 32])
def test_bins_are_narrow_where_many_rows_are(bins):
    positions = np.random.default_rng(1).beta(1, 40, (5000, 1))
    (edges,) = noisy_edges(positions, 10.0, bins, silent)
    assert len(edges) == bins + 1
    assert (edges[0], edges[-1]) == (0, 1)
    assert (np.diff(edges) > 0).all()
    if bins > 2:
        shares = np.histogram(positions, edges)[0] / 5000
        assert shares.max() < 0.8 * np.histogram(positions, bins)[0].max() / 5000, "equal bins"


def test_a_budget_of_almost_nothing_leaves_little_more_than_four_equal_bins():
    found = [noisy_edges(np.full((100, 1), 0.3), 1e-7, 32)[0] for _ in range(20)]
    assert all({0, 0.25, 0.5, 0.75, 1} <= set(edges) for edges in found)
    assert np.mean([len(edges) for edges in found]) < 6


@pytest.mark.parametrize(("divisor", "refuted"), [(1, False), (2, True)])
def test_an_audit_holds_the_stated_mu_and_refutes_half_the_noise(monkeypatch, divisor, refuted):
    """The worst case: one row against the empty table, tested by the likelihood ratio of its counts."""
    monkeypatch.setattr(noisy_bins, "LEVELS", 2)
    rho, runs, released = 0.5, 1000, []

    def recorded(center, sigma):
        released.append(discrete_gaussian(center, sigma / divisor))
        return released[-1]

    canary = np.array([[0.77]])
    for positions in [canary] * runs + [np.zeros((0, 1))] * runs:
        noisy_edges(positions, rho, 4, recorded)
    scores = np.array([(counts * dyadic_counts(canary)).sum() for counts in released]) / 2
    hits = (scores > 0.5).reshape(2, runs).sum(1)
    assert (mu_lower_bound(int(hits[0]), runs, int(hits[1]), runs, UNSEEDED) > np.sqrt(2 * rho)) == refuted
