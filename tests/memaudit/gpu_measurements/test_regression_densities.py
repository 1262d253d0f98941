"""A timed density is that of the network's own distribution."""

import pytest
import torch

from memaudit.gpu_measurements import regression_densities
from memaudit.gpu_measurements.published_networks import build
from memaudit.gpu_measurements.resumable_parts import Setup
from memaudit.gpu_measurements.shadow_grids import SMALLEST
from memaudit.models.predictive_distributions import Binned

SETUP = Setup("cpu", True, 60.0, machine={"peak_tflops": None, "matmul_tflops": {"fp32": 1.0}})


@pytest.mark.parametrize("network", regression_densities.NETWORKS)
def test_a_rate_counts_all_records(network):
    found = regression_densities.densities(network, "fp32", SMALLEST, SETUP)
    assert found["records_per_second"] == pytest.approx(SMALLEST["rows"] / found["seconds"])
    assert found["forward_seconds"] > 0


@pytest.mark.parametrize("network", regression_densities.NETWORKS)
def test_the_density_of_a_regressor_depends_on_the_context_and_integrates_to_one(network):
    model = build(network, "cpu", small=True, task="regression").network
    draw = torch.Generator().manual_seed(1)
    x, queries = torch.randn(1, 20, 4, generator=draw), torch.randn(1, 3, 4, generator=draw)
    with torch.inference_mode():
        first, second = (model.distribution(x, y, queries) for y in (x[..., 0].double(), -3 * x[..., 1].double()))
        grid = torch.linspace(-60, 60, 400_001, dtype=torch.float64)
        mass = first.log_density(grid.expand(1, 3, -1)).exp().sum(-1) * (grid[1] - grid[0])
    assert mass == pytest.approx(torch.ones(1, 3).numpy(), abs=0.02)
    assert not torch.allclose(first.mean(), second.mean())


def test_a_density_that_is_no_number_is_an_error(monkeypatch):
    monkeypatch.setattr(Binned, "log_density", lambda self, y: y * torch.nan)
    with pytest.raises(ValueError, match="not a number"):
        regression_densities.densities("tabicl_v2", "fp32", SMALLEST, SETUP)
