"""Wall time, peak memory and kernels of work on a device, with every clock read after the device has finished."""

import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import torch
from torch.autograd import DeviceType
from torch.profiler import ProfilerActivity, profile

from memaudit.common.io import MEBIBYTE

LEAST = 3  # repetitions, however long they take
# Parts of the names of operations on a CPU and of kernels on a GPU.
KERNELS = {
    "attention": ("scaled_dot_product", "attention", "fmha", "flash"),
    "matrix products": ("mm", "gemm", "nvjet", "linear"),
}
OTHER_KERNELS, IDLE = "norms, activations, copies", "waiting for the processor"


def synchronize(device: str) -> None:
    """Wait until a GPU has finished its work."""
    if device != "cpu":
        torch.cuda.synchronize(device)


@contextmanager
def precision(dtype: str, device: str) -> Iterator[None]:
    """Compute products in `fp32`, in `tf32` (fp32 rounded to 10 bits), or under autocast in `bf16`.

    The settings of before come back at the end. On a CPU `tf32` changes nothing.
    """
    before = torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = dtype == "tf32"
    kind = torch.device(device).type
    try:
        with torch.autocast(kind, torch.bfloat16) if dtype == "bf16" else nullcontext():
            yield
    finally:
        torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32 = before


def timed(work: Callable[[], Any], device: str, repetitions: int, seconds: float, warm_up: int = 1) -> dict[str, Any]:
    """Wall seconds of work: the median, and those of every repetition; peak memory of the device in MiB.

    The first `warm_up` runs are not counted. After `seconds` no repetition starts beyond the third.
    """
    for _ in range(warm_up):
        work()
    synchronize(device)
    if device != "cpu":
        torch.cuda.reset_peak_memory_stats(device)
    taken: list[float] = []
    start = time.perf_counter()
    while len(taken) < repetitions and (len(taken) < LEAST or time.perf_counter() - start < seconds):
        began = time.perf_counter()
        work()
        synchronize(device)
        taken.append(time.perf_counter() - began)
    return {
        "seconds": statistics.median(taken),
        "seconds_of_each": taken,
        "repetitions": len(taken),
        "peak_mib": torch.cuda.max_memory_allocated(device) / MEBIBYTE if device != "cpu" else None,
    }


def kernel_shares(work: Callable[[], Any], seconds: float, device: str) -> dict[str, float]:
    """Shares of the time of work by kind of kernel; of its `seconds` a GPU may also wait for the processor."""
    activities = [ProfilerActivity.CPU] + [ProfilerActivity.CUDA] * (device != "cpu")
    with profile(activities=activities) as profiled:
        work()
        synchronize(device)
    spent = dict.fromkeys([*KERNELS, OTHER_KERNELS], 0.0)
    kind_of_device = DeviceType.CPU if device == "cpu" else DeviceType.CUDA
    for event in profiled.key_averages():
        if event.device_type != kind_of_device:  # an operation's time on the GPU is that of its kernels
            continue
        kind = next((kind for kind, parts in KERNELS.items() if any(part in event.key for part in parts)), None)
        own = event.self_cpu_time_total if device == "cpu" else event.self_device_time_total
        spent[kind or OTHER_KERNELS] += own
    if device != "cpu":
        spent[IDLE] = max(0.0, 1e6 * seconds - sum(spent.values()))
    total = sum(spent.values())
    return {kind: own / total for kind, own in spent.items()} if total else spent
