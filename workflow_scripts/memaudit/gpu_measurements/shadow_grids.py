"""Parts `rates` and `grid`: shadow grids of published networks at the size of Adult in the reliability paper.

The table has 10,000 rows and 14 features; a shadow model's context is half of the rows, and all rows are queried. Part
`rates` times forward passes of as many tables as memory and kernels allow. Part `grid` times the workflow's own step,
from membership to signals, on a sample of blocks of models, extrapolates 4,096 models, and runs whole grids where time
allows.
"""

import time
from functools import partial
from typing import Any

import numpy as np
import torch

from memaudit.attacks.shadow_queries import logit_signals
from memaudit.common.io import MEBIBYTE
from memaudit.gpu_measurements.device_facts import free_mib
from memaudit.gpu_measurements.published_networks import NETWORKS, build
from memaudit.gpu_measurements.resumable_parts import Case, LeftOut, NotReached, Part, Setup
from memaudit.gpu_measurements.timing import kernel_shares, precision, synchronize, timed
from memaudit.models.batched_queries import MEMORY, ROWS, table_bytes
from memaudit.statistics.mean_interval import half_width

PUBLISHED = {"rows": 10_000, "context_rows": 5_000, "features": 14, "models": 4_096, "block": 16, "blocks": 8}
SMALLEST = {"rows": 40, "context_rows": 20, "features": 4, "models": 6, "block": 2, "blocks": 3}
AIMS = {"tabicl_v2": 1200, "tabpfn_v3": 3600}  # seconds of a whole grid on one H200
SPARE = 1.1  # a whole grid starts if this many times its predicted time is left
ROUND = 64  # models of a whole grid between two looks at the clock
MOST_TABLES = 16


def rate_cases(smallest: bool) -> list[Case]:
    """Every published network in fp32, bf16 and tf32; the newest of either family first."""
    sizes = {key: (SMALLEST if smallest else PUBLISHED)[key] for key in ("rows", "context_rows", "features")}
    dtypes = ("fp32", "bf16") if smallest else ("fp32", "bf16", "tf32")
    newest, others = list(NETWORKS)[:2], list(NETWORKS)[2:]
    order = [(network, dtype) for group in (newest, others) for dtype in dtypes for network in group]
    return [
        Case(
            f"{network} {dtype}",
            {"network": network, "dtype": dtype, "sizes": sizes},
            partial(rate, network, dtype, sizes),
        )
        for network, dtype in order
    ]


@torch.inference_mode()
def rate(network: str, dtype: str, sizes: dict[str, int], setup: Setup) -> dict[str, Any]:
    """Rows a second, TFLOP/s and shares of the chip's peak of forward passes, and the kernels that take the time."""
    built = build(network, setup.device, setup.smallest)
    shape = sizes["context_rows"], sizes["rows"], sizes["features"]
    tables = 1 if setup.device == "cpu" else tables_of_pass(built.network, shape, free_mib(setup.device))
    x, y = table(sizes)
    x, y = x.to(setup.device), y.to(setup.device)
    contexts = torch.stack([torch.randperm(len(x))[: shape[0]] for _ in range(tables)]).to(setup.device)
    arguments = x[contexts], y[contexts], x.expand(tables, -1, -1)

    def work() -> torch.Tensor:
        return built.network.logits(*arguments)

    with precision(dtype, setup.device):
        timing = timed(work, setup.device, repetitions=2 if setup.smallest else 10, seconds=12)
        shares = kernel_shares(work, timing["seconds"], setup.device)
    operations = built.operations(*shape)
    tflops = tables * operations / timing["seconds"] / 1e12
    return (
        timing
        | shares_of_peak(tflops, dtype, setup)
        | {
            "parameters": built.parameters,
            "tables_per_pass": tables,
            "operations_per_table": operations,
            "rows_per_second": tables * len(x) / timing["seconds"],
            "kernel_shares": shares,
            "bound_by": max(shares, key=shares.get),
        }
    )


def shares_of_peak(tflops: float, dtype: str, setup: Setup) -> dict[str, Any]:
    """TFLOP/s, their share of the data sheet's peak (None for an unknown chip) and of the measured matrix product."""
    peak = (setup.machine["peak_tflops"] or {}).get(dtype)
    product = setup.machine["matmul_tflops"][dtype]
    return {"tflops": tflops, "share_of_peak": peak and tflops / peak, "share_of_matmul": tflops / product}


def tables_of_pass(model: Any, shape: tuple[int, int, int], free: int) -> int:
    """How many tables (context, queries, features) half of `free` MiB and the kernels' row limit allow in one pass."""
    context, queries, features = shape
    by_memory = free * MEBIBYTE // (2 * table_bytes(model, context, queries, features))
    return max(1, min(by_memory, ROWS // (context + queries), MOST_TABLES))


def table(sizes: dict[str, int]) -> tuple[torch.Tensor, torch.Tensor]:
    """A random table with two classes, on the CPU."""
    draw = torch.Generator().manual_seed(0)
    x = torch.randn(sizes["rows"], sizes["features"], generator=draw)
    return x, (x[:, 0] + x[:, 1] > 0).long()


def grid_cases(smallest: bool) -> list[Case]:
    """A sample of each grid, then the whole of those that fit into the time."""
    sizes = SMALLEST if smallest else PUBLISHED
    return [
        Case(
            f"{network} {dtype} {step.__name__}",
            {"network": network, "dtype": dtype, "sizes": sizes, "aim_seconds": AIMS[network], "whole": step is whole},
            partial(step, network, dtype, sizes),
        )
        for step in (sample, whole)
        for dtype in ("fp32", "bf16")
        for network in AIMS
    ]


def sample(network: str, dtype: str, sizes: dict[str, int], setup: Setup) -> dict[str, Any]:
    """Seconds of a model from blocks of models, and of the whole grid with the 95 % interval of their mean."""
    grid = Grid(network, dtype, sizes, setup)
    timing = timed(lambda: grid.query(sizes["block"]), setup.device, sizes["blocks"], seconds=75)
    each = np.array(timing["seconds_of_each"]) / sizes["block"]
    half = half_width(each)
    return timing | {
        "models_measured": sizes["block"] * len(each),
        "seconds_per_model": float(each.mean()),
        "memory_mib": grid.memory,
        "extrapolated_seconds": float(sizes["models"] * each.mean()),
        "extrapolated_low": float(sizes["models"] * max(0.0, each.mean() - half)),
        "extrapolated_high": float(sizes["models"] * (each.mean() + half)),
    }


def whole(network: str, dtype: str, sizes: dict[str, int], setup: Setup) -> dict[str, Any]:
    """Seconds of the whole grid. Raises LeftOut if the part's limit is too short, NotReached if the time left is."""
    predicted = setup.done.get(f"{network} {dtype} sample", {}).get("extrapolated_seconds")
    if predicted is None:
        raise LeftOut("its sample was not measured")
    if SPARE * predicted > setup.limit:
        raise LeftOut(f"{predicted:.0f} s are predicted, the limit is {setup.limit:.0f} s")
    if SPARE * predicted > setup.seconds_left():
        raise NotReached(f"{predicted:.0f} s are predicted, {setup.seconds_left():.0f} s are left")
    grid = Grid(network, dtype, sizes, setup)
    grid.query(1)
    began = time.perf_counter()
    for start in range(0, sizes["models"], ROUND):
        grid.query(min(ROUND, sizes["models"] - start))
    seconds = time.perf_counter() - began
    return {"seconds": seconds, "repetitions": 1, "extrapolated_seconds": predicted, "memory_mib": grid.memory}


class Grid:
    """Shadow models of one network, queried in blocks as the workflow queries them."""

    def __init__(self, network: str, dtype: str, sizes: dict[str, int], setup: Setup) -> None:
        self.model = build(network, setup.device, setup.smallest).network
        self.dtype, self.sizes, self.device = dtype, sizes, setup.device
        self.x, self.y = table(sizes)
        self.rng = np.random.default_rng(0)
        # MiB of a forward pass: the workflow's default would part the queries of such a table.
        self.memory = MEMORY if setup.device == "cpu" else max(MEMORY, free_mib(setup.device) // 2)

    def query(self, models: int) -> None:
        """Signals of all records for so many new models; raises ValueError where one is not a number."""
        order = self.rng.random((models, len(self.x))).argsort(1)
        with precision(self.dtype, self.device):
            signals = logit_signals(
                self.model,
                self.x,
                self.y,
                order < self.sizes["context_rows"],
                torch.ones(len(self.x), dtype=torch.bool),
                classes=2,
                memory=self.memory,
            )
        synchronize(self.device)
        if not np.isfinite(signals).all():
            raise ValueError(f"{self.dtype}: a signal is not a number")


def rate_headline(measured: list[dict[str, Any]]) -> str:
    """The fastest case of each of the newest networks."""
    fastest = {one["network"]: one for one in sorted(measured, key=lambda one: one["tflops"])}
    parts = []
    for network in AIMS.keys() & fastest.keys():
        one = fastest[network]
        peak = f" ({one['share_of_peak']:.0%} of peak)" if one["share_of_peak"] else ""
        parts.append(f"{one['name']} {one['tflops']:.3g} TFLOP/s{peak}")
    return "; ".join(sorted(parts))


def grid_headline(measured: list[dict[str, Any]]) -> str:
    """Minutes of the grids: run whole, or extrapolated."""
    parts = {}
    for one in measured:
        seconds, note = (one["seconds"], "") if one["whole"] else (one["extrapolated_seconds"], " (extrapolated)")
        parts[one["network"], one["dtype"]] = f"{one['network']} {one['dtype']} {seconds / 60:.3g} min{note}"
    return "; ".join(parts.values())


RATES = Part("rates", 420, rate_cases, rate_headline)
GRID = Part("grid", 610, grid_cases, grid_headline)
