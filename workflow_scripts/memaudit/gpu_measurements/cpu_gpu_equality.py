"""Part `equality`: answers on the device against those on the CPU in fp32, and the errors of tf32 and bf16.

Errors are differences of log-probabilities in nats, of the classes in the context. The tolerance holds for fp32 alone;
docs/platforms.md states it. The same contexts are queried on both, several tables in one forward pass.
"""

import time
from functools import cache, partial
from typing import Any

import torch
from sklearn.datasets import load_breast_cancer
from torch import Tensor

from memaudit.gpu_measurements.published_networks import NETWORKS, build
from memaudit.gpu_measurements.resumable_parts import Case, Part, Setup
from memaudit.gpu_measurements.timing import precision, synchronize
from memaudit.models import shipped_model
from memaudit.models.batched_queries import Question, answer
from memaudit.models.model_protocol import Network
from memaudit.models.tabicl import TabICLBranch

TOLERANCE = 1e-4  # nats
SHIPPED = "tabicl_small_shipped"
PUBLISHED = {"tables": 2, "context_rows": 1000, "query_rows": 250, "features": 14}
SMALLEST = {"tables": 2, "context_rows": 30, "query_rows": 10, "features": 4}
SHIPPED_TABLES = {"tables": 8, "context_rows": 285, "query_rows": 100, "features": 30}
CLASSES = 2


def cases(smallest: bool) -> list[Case]:
    """The shipped checkpoint on breast cancer, then each published shape: all in fp32, then bf16, then tf32."""
    sizes = dict.fromkeys(NETWORKS, SMALLEST if smallest else PUBLISHED) | {SHIPPED: SHIPPED_TABLES}
    dtypes = ("fp32", "bf16") if smallest else ("fp32", "bf16", "tf32")
    order = [(network, dtype) for dtype in dtypes for network in (SHIPPED, *NETWORKS)]
    return [
        Case(
            f"{network} {dtype}",
            {"network": network, "dtype": dtype, "sizes": sizes[network]},
            partial(compare, network, dtype),
        )
        for network, dtype in order
    ]


def compare(network: str, dtype: str, setup: Setup) -> dict[str, Any]:
    """Errors of the device in one dtype, and how far the answers vary between records."""
    questions = tables(network, setup.smallest)
    expected = on_cpu(network, setup.smallest)
    model = opened(network, setup.device, setup.smallest)
    synchronize(setup.device)
    began = time.perf_counter()
    with precision(dtype, setup.device):
        answers = _log_probabilities(model, questions)
    seconds = time.perf_counter() - began
    error = (answers - expected).abs()
    measured = {
        "largest_error": error.max().item(),
        "root_mean_square_error": error.square().mean().sqrt().item(),
        "deviation_between_records": expected[..., 0].std().item(),
        "predictions_changed": (answers.argmax(-1) != expected.argmax(-1)).float().mean().item(),
        "seconds": seconds,
        "repetitions": 1,
    }
    if dtype == "fp32":
        measured |= {"tolerance": TOLERANCE, "within_tolerance": measured["largest_error"] <= TOLERANCE}
    if network in NETWORKS and NETWORKS[network].device_draws:
        measured["note"] = "column embeddings are 0: the package draws them on the device, others than on the CPU"
    return measured


@cache
def on_cpu(network: str, smallest: bool) -> Tensor:
    """Log-probabilities (table, query, class) of the network on the CPU in fp32, float64."""
    return _log_probabilities(opened(network, "cpu", smallest), tables(network, smallest))


def opened(network: str, device: str, smallest: bool) -> Network:
    """The network on a device, with the same weights on each."""
    if network == SHIPPED:
        return TabICLBranch.of_file(shipped_model.SHIPPED, shipped_model.SHIPPED_CARD, device)
    model = build(network, device, smallest).network
    if NETWORKS[network].device_draws:
        with torch.no_grad():
            model.module.feature_positional_embedding_embeddings.weight.zero_()
    return model


def tables(network: str, smallest: bool) -> list[Question]:
    """Contexts and queries: of breast cancer for the shipped checkpoint, else random ones with a learnable label."""
    draw = torch.Generator().manual_seed(0)
    sizes = SHIPPED_TABLES if network == SHIPPED else SMALLEST if smallest else PUBLISHED
    rows, context = sizes["context_rows"] + sizes["query_rows"], sizes["context_rows"]
    if network == SHIPPED:
        x, y = (torch.from_numpy(part) for part in load_breast_cancer(return_X_y=True))
        orders = [torch.randperm(len(x), generator=draw)[:rows] for _ in range(sizes["tables"])]
        drawn = [(x[order].float(), y[order]) for order in orders]
    else:
        cells = torch.randn(sizes["tables"], rows, sizes["features"], generator=draw)
        drawn = [(x, (x[:, 0] + x[:, 1] > 0).long()) for x in cells]
    return [Question(x[:context], y[:context], x[context:]) for x, y in drawn]


def _log_probabilities(model: Network, questions: list[Question]) -> Tensor:
    return torch.stack(answer(model, questions))[..., :CLASSES].double().log_softmax(-1)


def headline(measured: list[dict[str, Any]]) -> str:
    """The largest error in fp32 and in bf16."""
    largest = {
        dtype: max((case["largest_error"] for case in measured if case["dtype"] == dtype), default=float("nan"))
        for dtype in ("fp32", "bf16")
    }
    return (
        f"largest error {largest['fp32']:.1e} nats in fp32 (tolerance {TOLERANCE:.0e}), {largest['bf16']:.1e} in bf16"
    )


PART = Part("equality", 150, cases, headline)
