"""Predicted distributions: densities, means and entropies against closed forms."""

import numpy as np
import pytest
import torch

from memaudit.models.predictive_distributions import Binned


@pytest.mark.parametrize("z", [0.0, 0.5, -3.0, 7.5, 8.5, -10.0])
def test_binned_normal_has_the_normals_density_out_to_far_outliers(z):
    mean, deviation = torch.tensor([5.0]), torch.tensor([2.0])
    exact = torch.distributions.Normal(mean, deviation).log_prob(mean + z * deviation)
    found = Binned.from_normal(mean, deviation).log_density((mean + z * deviation)[:, None])[:, 0]
    torch.testing.assert_close(found, exact.double(), atol=0.1 if abs(z) < 8 else 2.5, rtol=0)


def uniform():
    """Three bars of equal mass between 0 and 3; the outer ones are half-normal tails."""
    return Binned.from_bars(torch.zeros(1, 3), torch.tensor([0.0, 1.0, 2.0, 3.0]))


def test_mass_sums_to_one_and_the_mean_of_a_symmetric_distribution_is_its_centre():
    grid = torch.linspace(-30, 33, 200_001)[None]
    density = uniform().log_density(grid).exp()
    assert torch.trapezoid(density, grid).item() == pytest.approx(1, abs=1e-3)
    assert uniform().mean().item() == pytest.approx(1.5)


def test_scaling_moves_the_mean_and_adds_the_logarithm_to_the_entropy():
    scaled = uniform().scaled(torch.tensor([[4.0]]), torch.tensor([[10.0]]))
    assert scaled.mean().item() == pytest.approx(4 * 1.5 + 10)
    assert scaled.entropy().item() == pytest.approx(uniform().entropy().item() + np.log(4), abs=1e-6)


def test_quantiles_in_any_order_give_their_own_median():
    quantiles = torch.linspace(-2, 2, 9)[None]
    shuffled = quantiles[:, torch.randperm(9, generator=torch.Generator().manual_seed(0))]
    assert Binned.from_quantiles(shuffled).mean().item() == pytest.approx(0, abs=1e-6)
    torch.testing.assert_close(Binned.from_quantiles(shuffled).borders, Binned.from_quantiles(quantiles).borders)


def test_equal_quantiles_have_a_finite_density():
    assert Binned.from_quantiles(torch.ones(1, 9)).log_density(torch.ones(1, 1)).isfinite().all()
