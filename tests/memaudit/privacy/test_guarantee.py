"""What a release guarantees to one person, against closed forms of the Gaussian and tests on drawn noise."""

import math

import numpy as np
import pytest
from scipy import stats

from memaudit.privacy.accounting import Budget, gaussian_delta, gaussian_rho, gaussian_sigma, rho_within
from memaudit.privacy.discrete_noise import discrete_gaussian
from memaudit.privacy.guarantee import Guarantee

LATTICE = 10_000  # steps of a sensitivity


def gaussian(epsilon, delta):
    """The guarantee of one fine Gaussian release that fills a budget, and its mu."""
    sigma = gaussian_sigma(epsilon, delta)
    return Guarantee(gaussian_rho(sigma), ((1, LATTICE, sigma * LATTICE),)), 1 / sigma


@pytest.mark.parametrize(("epsilon", "delta", "times"), [(1, 1e-5, 16), (1, 1e-6, 20), (10, 1e-5, 3.2)])
def test_a_larger_loss_is_several_times_as_likely_as_delta(epsilon, delta, times):
    guarantee, mu = gaussian(epsilon, delta)
    # The loss of a Gaussian is normal, with mean mu^2 / 2 and deviation mu.
    truth = stats.norm.sf((epsilon - mu**2 / 2) / mu)
    assert truth <= guarantee.beyond(epsilon) <= 1.01 * truth
    assert guarantee.beyond(epsilon) / delta == pytest.approx(times, rel=0.02)
    # All that is known of an adaptive sequence is rho: a larger bound.
    assert truth < Guarantee(guarantee.rho).beyond(epsilon) <= 1


@pytest.mark.parametrize("epsilon", [0.3, 1, 10])
def test_the_trade_off_is_that_of_the_gaussian(epsilon):
    guarantee, mu = gaussian(epsilon, 1e-5)
    fprs = np.array([1e-4, 0.01, 0.1, 0.5, 0.9])
    truth = stats.norm.cdf(stats.norm.ppf(fprs) + mu)
    found = guarantee.largest_tpr(fprs)
    assert (found >= truth - 1e-6).all()
    assert found == pytest.approx(truth, rel=0.02)
    assert (found <= np.minimum(1, math.exp(epsilon) * fprs + 1e-5) + 1e-9).all()
    assert (Guarantee(guarantee.rho).largest_tpr(fprs) >= truth - 1e-6).all()


def test_ten_rows_have_more_than_ten_times_epsilon_at_the_same_delta():
    guarantee, _ = gaussian(1, 1e-5)
    assert guarantee.epsilon(1e-5) == pytest.approx(1, rel=1e-3)
    assert guarantee.of_rows(10).epsilon(1e-5) == pytest.approx(14.43, rel=1e-3)
    assert guarantee.of_rows(10).mu == pytest.approx(10 * guarantee.mu)
    assert Guarantee(guarantee.rho).of_rows(10).epsilon(1e-5) > 14.43


def test_many_coarse_votes_are_accounted_together_and_of_rows_by_rho():
    sigma = gaussian_sigma(1, 1e-5) * math.sqrt(2 * 40)
    guarantee = Guarantee(40 * gaussian_rho(sigma, 2), ((2 * 40, 1, sigma),))
    assert guarantee.epsilon(1e-5) == pytest.approx(1, rel=0.01)
    assert guarantee.beyond(1) == pytest.approx(16.2e-5, rel=0.02)
    assert guarantee.of_rows(3).mechanisms is None


def test_rho_alone_gives_no_less_than_the_budget_that_it_was_taken_from():
    budget = Budget(1.0, 1e-5)
    assert Guarantee(rho_within(budget)).epsilon(budget.delta) == pytest.approx(1, rel=1e-3)
    assert Guarantee(1e6).epsilon(1e-5) == math.inf
    assert Guarantee(1e-12).epsilon(0.5) == 0


@pytest.mark.parametrize("mechanisms", [None, ()])
def test_a_release_that_costs_nothing_reveals_nothing(mechanisms):
    free = Guarantee(0.0, mechanisms)
    assert free.beyond(1.0) == free.beyond(0.0) == free.mu == 0
    # As in the limit of less and less rho.
    assert Guarantee(1e-9).beyond(1.0) == pytest.approx(0, abs=1e-12)


def test_no_test_on_drawn_noise_finds_more_than_the_bound():
    """Sums of one record against none, discrete Gaussian noise: the likelihood ratio test is the best there is."""
    sigma, draws = 2.0, 200_000
    guarantee = Guarantee(gaussian_rho(sigma), ((1, 1, sigma),))
    outside = discrete_gaussian(np.zeros(draws, np.int64), sigma)
    inside = outside + 1
    for threshold in range(-2, 8):
        fpr, tpr = (np.mean(values >= threshold) for values in (outside, inside))
        bound = guarantee.largest_tpr([fpr])[0]
        assert tpr <= bound + 8 * math.sqrt(0.25 / draws)
        assert bound <= stats.norm.cdf(stats.norm.ppf(fpr) + 1 / sigma) + 0.05
    log_ratio = (2 * inside - 1) / (2 * sigma**2)
    assert np.mean(log_ratio > 0.5) <= guarantee.beyond(0.5) + 8 * math.sqrt(0.25 / draws)
    assert gaussian_delta(0.5, sigma) == pytest.approx(guarantee.deltas([0.5])[0], rel=0.05)
