"""Part `densities`: log densities of numbers to predict, by the regression heads of published networks."""

from functools import partial
from typing import Any

import torch

from memaudit.gpu_measurements.published_networks import build
from memaudit.gpu_measurements.resumable_parts import Case, Part, Setup
from memaudit.gpu_measurements.shadow_grids import PUBLISHED, SMALLEST, table
from memaudit.gpu_measurements.timing import precision, timed

NETWORKS = ("tabicl_v2", "tabpfn_v3")


def cases(smallest: bool) -> list[Case]:
    """Both newest networks in fp32 and bf16."""
    sizes = {key: (SMALLEST if smallest else PUBLISHED)[key] for key in ("rows", "context_rows", "features")}
    return [
        Case(
            f"{network} {dtype}",
            {"network": network, "dtype": dtype, "sizes": sizes},
            partial(densities, network, dtype, sizes),
        )
        for dtype in ("fp32", "bf16")
        for network in NETWORKS
    ]


@torch.inference_mode()
def densities(network: str, dtype: str, sizes: dict[str, int], setup: Setup) -> dict[str, Any]:
    """Seconds of one context's log densities of all records, and of its forward pass alone.

    Raises ValueError for a density that is not a number.
    """
    model = build(network, setup.device, setup.smallest, task="regression").network
    x, _ = table(sizes)
    x = x.to(setup.device)
    y = (x[:, 0] + x[:, 1]).double()
    context = torch.randperm(len(x))[: sizes["context_rows"]]
    arguments = x[context][None], y[context][None], x[None]

    def work() -> torch.Tensor:
        return model.distribution(*arguments).log_density(y[None, :, None])

    repetitions = 2 if setup.smallest else 10
    with precision(dtype, setup.device):
        forward = timed(lambda: model.forward(*arguments), setup.device, repetitions, seconds=12)
        timing = timed(work, setup.device, repetitions, seconds=12)
        if not torch.isfinite(work()).all():
            raise ValueError(f"{dtype}: a log density is not a number")
    return timing | {"forward_seconds": forward["seconds"], "records_per_second": len(x) / timing["seconds"]}


def headline(measured: list[dict[str, Any]]) -> str:
    """Records a second of each case."""
    return "; ".join(f"{one['name']} {one['records_per_second']:.3g} records/s" for one in measured)


PART = Part("densities", 70, cases, headline)
