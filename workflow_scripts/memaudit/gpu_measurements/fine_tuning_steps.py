"""Part `fine_tuning`: a step of fine-tuning on context-query pairs (ICLMEM), with the workflow's own loop."""

import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from memaudit.gpu_measurements.published_networks import build
from memaudit.gpu_measurements.resumable_parts import Case, Part, Setup
from memaudit.gpu_measurements.shadow_grids import shares_of_peak, table
from memaudit.gpu_measurements.timing import precision, timed
from memaudit.models.context_query_pairs import Task
from memaudit.models.fine_tuning import Run, Settings

PUBLISHED = {"rows": 10_000, "features": 14, "context_rows": 512}
SMALLEST = {"rows": 60, "features": 4, "context_rows": 20}
# Multiplications of a step over those of a forward pass: gradients of activations and of weights cost one each.
PASSES = 3


def cases(smallest: bool) -> list[Case]:
    """The paper's two numbers of queries in fp32, and the larger in tf32."""
    settings = [("fp32", 5)] if smallest else [("fp32", 50), ("fp32", 512), ("tf32", 512)]
    sizes = SMALLEST if smallest else PUBLISHED
    return [
        Case(
            f"{network} {queries} queries {dtype}",
            {"network": network, "dtype": dtype, "sizes": sizes | {"query_rows": queries}},
            partial(step, network, dtype, sizes, queries),
        )
        for dtype, queries in settings
        for network in ("tabicl_v2", "tabpfn_v3")
    ]


def step(network: str, dtype: str, sizes: dict[str, int], queries: int, setup: Setup) -> dict[str, Any]:
    """Seconds of an epoch of one step: draw the pair, forward, backward, AdamW; no checkpoint is written."""
    built = build(network, setup.device, setup.smallest)
    x, y = table(sizes)
    task = Task(x, y, np.arange(len(x)))
    repetitions, warm_up = (3, 1) if setup.smallest else (30, 3)
    settings = Settings(0, repetitions + warm_up, 1e-4, sizes["context_rows"], queries, pairs="random")
    with tempfile.TemporaryDirectory() as folder, precision(dtype, setup.device):
        run = Run(built.network, {"random": task}, settings, Path(folder))
        timing = timed(run.advance, setup.device, repetitions, seconds=15, warm_up=warm_up)
    if run.done["diverged_at"] is not None:
        raise ValueError(f"the loss of epoch {run.done['diverged_at']} is not a number")
    operations = PASSES * built.operations(sizes["context_rows"], queries, sizes["features"])
    return (
        timing
        | shares_of_peak(operations / timing["seconds"] / 1e12, dtype, setup)
        | {
            "steps_per_second": 1 / timing["seconds"],
            "parameters": built.parameters,
        }
    )


def headline(measured: list[dict[str, Any]]) -> str:
    """Milliseconds of each step."""
    return "; ".join(f"{one['name']} {1e3 * one['seconds']:.3g} ms" for one in measured)


PART = Part("fine_tuning", 70, cases, headline)
