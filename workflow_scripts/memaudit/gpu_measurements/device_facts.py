"""Facts about the device that measurements ran on: its name, memory, versions, peak and measured matrix products."""

import platform
from importlib.metadata import version
from typing import Any

import torch

from memaudit.common.io import MEBIBYTE
from memaudit.gpu_measurements.timing import precision, timed

# TFLOP/s of dense products (no sparsity), from NVIDIA's data sheets; of several keys in a name the longest counts.
PEAK_TFLOPS = {
    "B200": {"fp32": 75, "tf32": 1125, "bf16": 2250},
    "H200": {"fp32": 67, "tf32": 494.7, "bf16": 989.4},
    "H200 NVL": {"fp32": 60, "tf32": 417.5, "bf16": 835.5},
    "H100": {"fp32": 67, "tf32": 494.7, "bf16": 989.4},
    "H100 NVL": {"fp32": 60, "tf32": 417.5, "bf16": 835.5},
    "H100 PCIe": {"fp32": 51, "tf32": 378, "bf16": 756},
    "A100": {"fp32": 19.5, "tf32": 156, "bf16": 312},
    "A40": {"fp32": 37.4, "tf32": 74.8, "bf16": 149.7},
    "A30": {"fp32": 10.3, "tf32": 82, "bf16": 165},
    "A10": {"fp32": 31.2, "tf32": 62.5, "bf16": 125},
    "L40S": {"fp32": 91.6, "tf32": 183, "bf16": 362},
    "L40": {"fp32": 90.5, "tf32": 90.5, "bf16": 181},
    "L4": {"fp32": 30.3, "tf32": 60, "bf16": 121},
    "RTX 4090": {"fp32": 82.6, "tf32": 82.6, "bf16": 165.2},
    "RTX 3090": {"fp32": 35.6, "tf32": 35.6, "bf16": 71},
}


def name_of(device: str) -> str:
    """Name of a device as its driver reports it; `cpu` for the processor."""
    return torch.cuda.get_device_name(device) if device != "cpu" else "cpu"


def versions() -> dict[str, str | None]:
    """Versions that decide the numbers: a measurement with others is made again."""
    packages = {name: version(name) for name in ("torch", "tabicl", "tabpfn")}
    return packages | {"cuda": torch.version.cuda, "python": platform.python_version()}


def peak_tflops(name: str) -> dict[str, float] | None:
    """Peak TFLOP/s by dtype of the device of this name; None for an unknown one."""
    known = [key for key in PEAK_TFLOPS if set(key.split()) <= set(name.replace("-", " ").split())]
    return PEAK_TFLOPS[max(known, key=len)] if known else None


def machine(device: str, smallest: bool) -> dict[str, Any]:
    """Facts of a device for the head of a file, with the rate of large matrix products measured now, by dtype."""
    size = 256 if smallest else 8192
    facts: dict[str, Any] = {
        "name": name_of(device),
        "cpu_threads": torch.get_num_threads(),
        "deterministic_algorithms": torch.are_deterministic_algorithms_enabled(),
        "peak_tflops": peak_tflops(name_of(device)),
        "matmul_size": size,
        "matmul_tflops": {dtype: matmul_tflops(device, dtype, size) for dtype in ("fp32", "tf32", "bf16")},
    }
    if device != "cpu":
        properties = torch.cuda.get_device_properties(device)
        facts |= {"compute_capability": f"{properties.major}.{properties.minor}"}
        facts |= {"memory_mib": properties.total_memory // MEBIBYTE, "free_mib": free_mib(device)}
    return facts


def matmul_tflops(device: str, dtype: str, size: int) -> float:
    """TFLOP/s of a product of two square matrices, the median of up to 20 runs."""
    kind = torch.bfloat16 if dtype == "bf16" else torch.float32
    left, right = torch.randn(2, size, size, device=device, dtype=kind)
    with precision("tf32" if dtype == "tf32" else "fp32", device):
        return 2 * size**3 / timed(lambda: left @ right, device, repetitions=20, seconds=1)["seconds"] / 1e12


def free_mib(device: str) -> int | None:
    """Free memory of a GPU in MiB, what torch holds in reserve counted as free; None on the CPU."""
    if device == "cpu":
        return None
    torch.cuda.empty_cache()
    return torch.cuda.mem_get_info(device)[0] // MEBIBYTE
