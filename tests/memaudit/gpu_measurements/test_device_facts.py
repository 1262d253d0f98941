"""Peaks by the name that a driver reports, and rates of matrix products."""

import pytest
import torch

from memaudit.gpu_measurements import device_facts


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("NVIDIA H200", "H200"),
        ("NVIDIA H100 80GB HBM3", "H100"),
        ("NVIDIA H100 PCIe", "H100 PCIe"),
        ("NVIDIA H100 NVL", "H100 NVL"),
        ("NVIDIA A100-SXM4-80GB", "A100"),
        ("NVIDIA A10", "A10"),
        ("NVIDIA L40S", "L40S"),
        ("NVIDIA GeForce RTX 4090", "RTX 4090"),
    ],
)
def test_a_device_has_the_peak_of_its_own_name(name, key):
    assert device_facts.peak_tflops(name) is device_facts.PEAK_TFLOPS[key]


@pytest.mark.parametrize("name", ["cpu", "NVIDIA A1000", "AMD Instinct MI300X"])
def test_an_unknown_device_has_no_peak(name):
    assert device_facts.peak_tflops(name) is None


def test_facts_carry_name_settings_and_measured_products():
    facts = device_facts.machine("cpu", smallest=True)
    assert facts["name"] == "cpu"
    assert facts["cpu_threads"] == torch.get_num_threads()
    assert facts["matmul_tflops"].keys() == {"fp32", "tf32", "bf16"}
    assert all(rate > 0 for rate in facts["matmul_tflops"].values())
    assert device_facts.free_mib("cpu") is None
    assert device_facts.versions()["torch"].startswith(torch.__version__.split("+")[0])
