"""Part `compilation`: torch.compile, without and with CUDA graphs, against the eager module, at two sizes of tables.

Many tiny contexts (those of the memorization probe) are bound by the launch of kernels, one large table by arithmetic.
A network reads the number of classes from the device, so no graph spans the whole of it; torch.compile splits it there.
"""

import logging
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from memaudit.gpu_measurements.published_networks import build
from memaudit.gpu_measurements.resumable_parts import Case, LeftOut, Part, Setup
from memaudit.gpu_measurements.timing import precision, timed
from memaudit.models.model_protocol import Network

PROBES = {"tables": 64, "context_rows": 10, "query_rows": 1, "features": 14}
LARGE = {"tables": 1, "context_rows": 5_000, "query_rows": 5_000, "features": 14}
SMALLEST = {"tables": 2, "context_rows": 10, "query_rows": 1, "features": 4}
MODES = {"compiled": "default", "compiled with CUDA graphs": "reduce-overhead"}


def cases(smallest: bool) -> list[Case]:
    """Both families at both sizes; the smallest form traces without generating code."""
    sizes = {"probes": ("fp32", SMALLEST)} if smallest else {"probes": ("fp32", PROBES), "large": ("bf16", LARGE)}
    networks = ("tabicl_v2",) if smallest else ("tabicl_v2", "tabpfn_v3")
    return [
        Case(
            f"{network} {size} {mode}",
            {"network": network, "dtype": dtype, "mode": mode, "sizes": shape},
            partial(compare, network, dtype, mode, shape),
        )
        for size, (dtype, shape) in sizes.items()
        for network in networks
        for mode in MODES
    ]


@torch.inference_mode()
def compare(network: str, dtype: str, mode: str, sizes: dict[str, int], setup: Setup) -> dict[str, Any]:
    """Seconds of the compiled module's forward pass and of the eager one's, and the difference of their answers.

    branch_seconds: of the eager pass with what the workflow does around it (scaling, classes by table).
    """
    if setup.device == "cpu" and "CUDA" in mode:
        raise LeftOut("needs a GPU")
    torch._logging.set_logs(dynamo=logging.ERROR)  # splits are expected, see above
    torch._dynamo.reset()
    model = build(network, setup.device, setup.smallest).network
    with precision(dtype, setup.device):
        around, (arguments, options) = _call(model, sizes, setup)
        eager = _passes(model.module, arguments, options)
        backend = {"backend": "eager"} if setup.device == "cpu" else {"mode": MODES[mode]}
        compiled = _passes(torch.compile(model.module, dynamic=False, **backend), arguments, options)
        began = time.perf_counter()
        difference = (compiled() - eager()).abs().max().item()
        first = time.perf_counter() - began
        repetitions = {"repetitions": 3 if setup.smallest else 50, "seconds": 4, "warm_up": 3}
        branch, before, after = (timed(work, setup.device, **repetitions) for work in (around, eager, compiled))
    return after | {
        "eager_seconds": before["seconds"],
        "branch_seconds": branch["seconds"],
        "eager_over_compiled": before["seconds"] / after["seconds"],
        "first_call_seconds": first,
        "largest_difference": difference,
    }


def _call(model: Network, sizes: dict[str, int], setup: Setup) -> tuple[Callable[[], Tensor], tuple[tuple, dict]]:
    """The workflow's call of a network on random tables, and the arguments that reach the module in it."""
    draw = torch.Generator().manual_seed(0)
    context = sizes["context_rows"]
    x = torch.randn(sizes["tables"], context + sizes["query_rows"], sizes["features"], generator=draw)
    y = (x[:, :context, 0] > 0).long()
    y[:, 0], y[:, 1] = 0, 1  # both classes in every table
    x, y = x.to(setup.device), y.to(setup.device)
    calls: list[tuple[tuple, dict]] = []
    hook = model.module.register_forward_pre_hook(lambda _, *call: calls.append(call), with_kwargs=True)
    model.logits(x[:, :context], y, x[:, context:])
    hook.remove()
    return lambda: model.logits(x[:, :context], y, x[:, context:]), calls[-1]


def _passes(module: Callable[..., Any], arguments: tuple, options: dict[str, Any]) -> Callable[[], Tensor]:
    """A function that runs the module and copies its answer, which the next pass of a CUDA graph overwrites."""

    def work() -> Tensor:
        torch.compiler.cudagraph_mark_step_begin()
        answer = module(*arguments, **options)
        return (answer["standard"] if isinstance(answer, dict) else answer).float().clone()

    return work


def headline(measured: list[dict[str, Any]]) -> str:
    """The largest gain over the eager module."""
    best = max(measured, key=lambda one: one["eager_over_compiled"], default=None)
    return (
        f"at best {best['eager_over_compiled']:.2f} times as fast ({best['name']})" if best else "nothing was measured"
    )


PART = Part("compilation", 380, cases, headline)
