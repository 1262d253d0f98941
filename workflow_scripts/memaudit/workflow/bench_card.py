"""What the benchmarks share: the JSON card with machine and versions, CPU time, peak memory, and the shipped model."""

import multiprocessing
import os
import platform
import resource
import statistics
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from memaudit.common.io import MEBIBYTE, write_json
from memaudit.models.shipped_model import SHIPPED

Result = TypeVar("Result")

# One view of the table without the package's preprocessing: what the raw mode asks.
ONE_VIEW = {"n_estimators": 1, "norm_methods": "none", "feat_shuffle_method": "none", "class_shuffle_method": "none"}


def write_card(measured: Mapping[str, Any], output: str | Path, packages: Iterable[str] = ()) -> None:
    """Write what a benchmark measured as JSON, with the machine and the versions of the packages."""
    versions = {"python": platform.python_version()} | {name: version(name) for name in packages}
    write_json({**measured, "machine": machine(), "versions": versions}, output)


def machine() -> dict[str, Any]:
    """Processor, number of its cores, and memory in MiB."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // MEBIBYTE
    return {"processor": _processor(), "cores": os.cpu_count(), "memory_mib": memory}


def _processor() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def cpu_seconds(work: Callable[[], Result]) -> tuple[Result, float]:
    """Result of some work, and the CPU seconds that it took in this process."""
    start = time.process_time()
    result = work()
    return result, time.process_time() - start


def median_cpu_seconds(work: Callable[[], Any], runs: int) -> float:
    """Median CPU seconds of some work."""
    return statistics.median(cpu_seconds(work)[1] for _ in range(runs))


def peak_mib() -> float:
    """Peak memory of this process so far, as the kernel counts it (ru_maxrss), mapped pages of files included."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def growth_slopes(sizes: Sequence[int], measured: Sequence[tuple[float, float]]) -> dict[str, float]:
    """Slopes of seconds and of peak MiB against sizes on logarithmic axes, fitted to the upper half of the points."""
    upper = slice(-(len(sizes) // 2 + 1), None)
    slopes, _ = np.polyfit(np.log(sizes[upper]), np.log(measured[upper]), 1)
    return dict(zip(("seconds", "peak_mib"), slopes.tolist(), strict=True))


def in_own_process(function: Callable[..., Result], *arguments: Any, start: str = "spawn") -> Result:
    """Call a function in a process of its own, so that the peak of its memory is its own."""
    with ProcessPoolExecutor(1, multiprocessing.get_context(start)) as pool:
        return pool.submit(function, *arguments).result()


def own_cost(step: Callable[..., Callable[[], Any]], runs: int, *arguments: Any) -> tuple[float, float]:
    """Median CPU seconds of the work that `step` prepares, and its peak MiB beyond that, in a forked process."""
    return in_own_process(_cost, step, runs, *arguments, start="fork")


def _cost(step: Callable[..., Callable[[], Any]], runs: int, *arguments: Any) -> tuple[float, float]:
    work = step(*arguments)
    # A peak of the preparation, or of the process forked from, would hide that of the work: Linux starts it anew.
    Path("/proc/self/clear_refs").write_text("5")
    before = peak_mib()
    return median_cpu_seconds(work, runs), peak_mib() - before


def one_thread() -> None:
    """Let torch compute on one thread and without denormal numbers, which are slow."""
    import torch  # not every benchmark needs it

    torch.set_num_threads(1)
    torch.set_flush_denormal(True)


def packaged_classifier(context_x: Any, context_y: Any, query_x: Any, **options: Any) -> Any:
    """The package's classifier with the shipped weights, in fp32 on the CPU, after one fit and prediction.

    It has read its weights: later fits do not read them again.
    """
    from tabicl import TabICLClassifier

    own = {"device": "cpu", "use_amp": False, "use_fa3": False, "allow_auto_download": False}
    classifier = TabICLClassifier(model_path=SHIPPED, **own, **options)
    classifier.fit(context_x, context_y).predict_proba(query_x)
    classifier._load_model = lambda: None
    return classifier
