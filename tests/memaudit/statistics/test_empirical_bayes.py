"""Posteriors of normal means under an estimated prior: closed forms, and coverage whatever the prior's shape."""

import numpy as np
import pytest

from memaudit.statistics.empirical_bayes import Posterior, Prior, fit_prior


def test_one_component_gives_the_normal_posterior():
    prior = Prior(np.array([1.0]), 2.0, np.ones((1, 1)))
    posterior = prior.posterior(np.array([3.0, 0.0]), np.array([1.0, 2.0]))
    assert posterior.means() == pytest.approx([3 - 2 / 5, 0.5])
    assert posterior.sigma[:, 0] == pytest.approx([np.sqrt(0.8), np.sqrt(2)])
    assert posterior.quantiles(0.975) - posterior.means() == pytest.approx(1.959964 * posterior.sigma[:, 0])


def test_quantiles_of_a_mixture_split_its_mass():
    posterior = Posterior(np.array([[0.25, 0.75]]), np.array([[-5.0, 5.0]]), np.array([[0.1]]))
    assert posterior.quantiles(0.125) == pytest.approx([-5], abs=1e-3)
    assert posterior.quantiles(0.625) == pytest.approx([5], abs=1e-3)


def test_draws_with_unlike_weights_are_averaged_as_posteriors():
    draws = np.array([[0.9, 0.1], [0.1, 0.9]])
    each = [Prior(np.array([0.0, 3.0]), 0.5, draw[None]).posterior(np.array([1.0]), np.ones(1)) for draw in draws]
    both = Prior(np.array([0.0, 3.0]), 0.5, draws).posterior(np.array([1.0]), np.ones(1))
    np.testing.assert_allclose(both.weights, (each[0].weights + each[1].weights) / 2)
    np.testing.assert_allclose(both.weights.sum(1), 1)


@pytest.mark.parametrize("shape", ["point", "two points", "normal", "exponential"])
def test_intervals_of_the_largest_estimates_cover(shape):
    rng, covered = np.random.default_rng(0), []
    for _ in range(15):
        means = {
            "point": np.zeros(300), "two points": rng.choice([0.0, 4.0], 300, p=[0.97, 0.03]),
            "normal": rng.normal(0, 1.5, 300), "exponential": rng.exponential(1.5, 300),
        }[shape]  # fmt: skip
        errors = rng.uniform(0.8, 1.25, 300)
        estimates = means + errors * rng.standard_normal(300)
        posterior = fit_prior(estimates, errors, rng).posterior(estimates, errors)
        largest = np.argsort(-posterior.means())[:15]
        low, high = posterior.quantiles(0.025), posterior.quantiles(0.975)
        covered += list((low <= means)[largest] & (means <= high)[largest])
    assert np.mean(covered) >= 0.9


def test_far_estimates_keep_the_grid_small():
    estimates = np.array([*np.zeros(50), 1e6])
    prior = fit_prior(estimates, np.ones(51), np.random.default_rng(0), draws=10)
    assert len(prior.centres) == 250
    assert np.isfinite(prior.posterior(estimates, np.ones(51)).means()).all()
