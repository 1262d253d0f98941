"""Equality holds on the same device, an error of the device shows, and the shipped checkpoint is among the cases."""

import pytest
import torch

from memaudit.gpu_measurements import cpu_gpu_equality
from memaudit.gpu_measurements.published_networks import NETWORKS
from memaudit.gpu_measurements.resumable_parts import Setup

SETUP = Setup("cpu", smallest=True, limit=60.0)


def test_the_same_device_agrees_with_itself():
    found = cpu_gpu_equality.compare("tabpfn_v2", "fp32", SETUP)
    assert found["largest_error"] == 0
    assert found["within_tolerance"]
    assert found["deviation_between_records"] > 0.01


def test_bf16_has_an_error_and_no_tolerance():
    found = cpu_gpu_equality.compare("tabicl_v2", "bf16", SETUP)
    assert 1e-4 < found["largest_error"] < 1
    assert found["root_mean_square_error"] <= found["largest_error"]
    assert "within_tolerance" not in found


def test_a_wrong_device_is_not_within_tolerance(monkeypatch):
    cpu_gpu_equality.on_cpu("tabicl_v2", True)
    opened = cpu_gpu_equality.opened

    def disturbed(*arguments):
        model = opened(*arguments)
        with torch.no_grad():
            model.module.icl_predictor.decoder[-1].weight.mul_(1.01)
        return model

    monkeypatch.setattr(cpu_gpu_equality, "opened", disturbed)
    assert not cpu_gpu_equality.compare("tabicl_v2", "fp32", SETUP)["within_tolerance"]


@pytest.mark.parametrize("smallest", [True, False])
def test_every_network_is_compared_in_fp32_first(smallest):
    cases = cpu_gpu_equality.cases(smallest)
    first = cases[: len(NETWORKS) + 1]
    assert {case.facts["network"] for case in first} == {cpu_gpu_equality.SHIPPED, *NETWORKS}
    assert {case.facts["dtype"] for case in first} == {"fp32"}
    assert len({case.name for case in cases}) == len(cases)
