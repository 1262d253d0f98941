"""Networks in the shapes of the published checkpoints, with random weights: time and memory do not turn on the values.

Shapes are the defaults of tabicl 2.2.0 (v2) and tabpfn 9.2.0; TabICL v1 is that of Qu et al. (2025). The packages start
every block at zero, so that no answer depends on its context. Here the weights are scaled so that answers vary by 0.1
to 1 nats between records and with the context's labels: an error of rounding then has something to disturb.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import torch
from tabicl._model.tabicl import TabICL
from tabpfn.architectures import ARCHITECTURES
from tabpfn.architectures.shared.bar_distribution import FullSupportBarDistribution
from torch import nn

from memaudit.models import flops
from memaudit.models.model_protocol import Limits, Network
from memaudit.models.tabicl import TabICLBranch
from memaudit.models.tabpfn import TabPFNBranch
from memaudit.models.tabpfn_checkpoint import Opened, Task

CLASSES, BARS = 10, 5000
# Standard deviations of weights, in units of 1 / sqrt(inputs): of layers that end a residual branch, of the decoder by
# attention, of all others.
BRANCH_END, DECODER, OTHERS = 0.3, 4.0, 1.5
BRANCH_ENDS = ("out_proj", "mlp.2", "linear2")

TABICL_V1 = {"col_nhead": 4, "col_affine": True, "col_feature_group": False, "col_target_aware": False}
TABICL_V1 |= {"col_ssmax": "none", "icl_nhead": 4, "icl_ssmax": "none", "row_rope_interleaved": True}
SMALL_TABICL = {"embed_dim": 16, "col_num_blocks": 1, "col_nhead": 2, "col_num_inds": 4, "row_num_blocks": 1}
SMALL_TABICL |= {"row_nhead": 2, "row_num_cls": 2, "icl_num_blocks": 2, "icl_nhead": 2}
SMALL_CELLS = {"emsize": 24, "nlayers": 2, "nhead": 2}
SMALL_THINKING = SMALL_CELLS | {"num_thinking_rows": 3}
SMALL_ROWS = {"embed_dim": 16, "dist_embed_num_blocks": 1, "dist_embed_num_heads": 2, "feat_agg_num_blocks": 1}
SMALL_ROWS |= {"dist_embed_num_inducing_points": 4, "feat_agg_num_heads": 2, "feat_agg_num_cls_tokens": 2, "nlayers": 2}
SMALL_ROWS |= {"icl_num_heads": 2, "decoder_head_dim": 8, "decoder_num_heads": 2}


@dataclass(frozen=True)
class Published:
    """A published network: its package, what differs from the package's defaults, and the same for a small one."""

    family: Literal["tabicl", "tabpfn"]
    version: str
    published: Mapping[str, Any]
    small: Mapping[str, Any]
    device_draws: bool = False  # its module draws column embeddings on the device, others than on the CPU


NETWORKS = {
    "tabicl_v2": Published("tabicl", "v2", {}, SMALL_TABICL),
    "tabpfn_v3": Published("tabpfn", "v3", {}, SMALL_ROWS),
    "tabicl_v1": Published("tabicl", "v1", TABICL_V1, TABICL_V1 | SMALL_TABICL),
    "tabpfn_v2_6": Published("tabpfn", "v2.6", {}, SMALL_THINKING),
    "tabpfn_v2": Published("tabpfn", "v2", {}, SMALL_CELLS, device_draws=True),
}


@dataclass(frozen=True)
class Built:
    """A network, how many weights it has, and the operations of its forward pass (context, queries, columns)."""

    network: Network
    parameters: int
    operations: Callable[[int, int, int], int]


def build(name: str, device: str, small: bool = False, seed: int = 0, task: Task = "classification") -> Built:
    """Build a network of NETWORKS on a device; the weights depend on the seed alone, not on the device.

    A classifier has CLASSES classes. A regressor has the 999 quantiles of TabICL, or BARS bars of TabPFN, as published,
    in deviations of the context's targets.
    """
    published = NETWORKS[name]
    shape = published.small if small else published.published
    with torch.random.fork_rng(), torch.inference_mode(mode=False):
        torch.manual_seed(seed)
        return (_tabicl if published.family == "tabicl" else _tabpfn)(published, shape, task, device)


def _tabicl(published: Published, shape: Mapping[str, Any], task: Task, device: str) -> Built:
    module = TabICL(**{"max_classes": CLASSES if task == "classification" else 0} | shape)
    draw(module)
    counted = {key: value for key, value in shape.items() if key in flops.TABICL}
    if not shape.get("col_feature_group", True):
        counted["col_feature_group_size"] = 1
    return Built(TabICLBranch(module, device), _size(module), lambda *table: flops.tabicl(*table, **counted))


def _tabpfn(published: Published, shape: Mapping[str, Any], task: Task, device: str) -> Built:
    architecture = ARCHITECTURES[f"tabpfn_{published.version.replace('.', '_')}"]
    head = {"max_num_classes": CLASSES, "num_buckets": 10}
    if task == "regression":
        head = {"max_num_classes": 0, "num_buckets": BARS}
    config, _ = architecture.parse_config(head | shape)
    module = architecture.get_architecture(config)
    draw(module)
    # Bars of equal probability under a normal distribution.
    bars = None if task == "classification" else FullSupportBarDistribution(_normal_quantiles(BARS + 1))
    opened = Opened(module.eval(), bars, published.version, Limits(rows=None, features=None, classes=CLASSES))
    branch = TabPFNBranch(opened, task, device)
    return Built(branch, _size(module), lambda *table: flops.tabpfn(*table, published.version, **vars(config)))


def draw(module: nn.Module) -> None:
    """Draw the weights of all layers anew; encodings of classes keep their values, which are orthogonal."""
    with torch.no_grad():
        for name, weight in module.named_parameters():
            if weight.ndim > 1 and "y_encoder" not in name:
                ends = any(part in name for part in BRANCH_ENDS)
                scale = BRANCH_END if ends else DECODER if "many_class_decoder" in name else OTHERS
                weight.normal_(0, scale * weight.shape[-1] ** -0.5)


def _normal_quantiles(number: int) -> torch.Tensor:
    return torch.special.ndtri((torch.arange(number) + 0.5) / number)


def _size(module: nn.Module) -> int:
    return sum(weight.numel() for weight in module.parameters())
