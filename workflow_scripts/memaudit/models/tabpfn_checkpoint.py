"""Checkpoints of TabPFN, v2 to v3.5: read without unpickling, checked against their card, and built."""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import torch
from tabpfn.architectures import ARCHITECTURES
from tabpfn.architectures.interface import ArchitectureConfig
from tabpfn.architectures.shared.bar_distribution import FullSupportBarDistribution
from tabpfn.checkpoint import Checkpoint
from tabpfn.constants import ModelVersion
from tabpfn.inference_config import InferenceConfig
from torch import Tensor, nn

from memaudit.common.errors import AuditError
from memaudit.models.model_files import UNREADABLE, reason, the_file
from memaudit.models.model_protocol import Limits

VERSIONS = {
    "tabpfn_v2": "v2",
    "tabpfn_v2_5": "v2.5",
    "tabpfn_v2_6": "v2.6",
    "tabpfn_v3": "v3",
    "tabpfn_v3_5": "v3.5",
}
NAMED = re.compile(r"tabpfn-(v\d(?:\.\d)?(?:-fast)?)")  # in the name of every published file

Task = Literal["classification", "regression"]


@dataclass(frozen=True)
class Opened:
    """A checkpoint's module in fp32, its bars (None for a classifier), its version and its limits."""

    module: nn.Module
    bars: FullSupportBarDistribution | None
    version: str
    limits: Limits


def open_checkpoint(weights: Path, task: Task, version: str | None) -> Opened:
    """Open the one file of the folder `weights`, a .ckpt or .safetensors in the package's format.

    Raises AuditError for a missing or damaged file, one of another family, task or version. Nothing is downloaded.
    """
    file = the_file(weights)
    content = _read(file)
    architecture = _architecture(file, content)
    _check_version(file, VERSIONS[architecture], version)
    try:
        config, _ = ARCHITECTURES[architecture].parse_config(content["config"])
        _check_task(file, _tasks(config), task)
        module, bars = _build(architecture, config, content["state_dict"], task)
        limits = _limits(content, config, VERSIONS[architecture], task)
    except UNREADABLE as error:
        raise AuditError(f"{file}: not a TabPFN checkpoint ({reason(error)}); fetch the model again") from error
    return Opened(module.float().eval(), bars, VERSIONS[architecture], limits)


def _read(file: Path) -> dict[str, Any]:
    """Read the contents of a checkpoint, tensors and plain values only. Raises AuditError if it cannot be read."""
    try:
        if file.suffix == ".safetensors":
            return Checkpoint(file).load()
        return torch.load(file, map_location="cpu", weights_only=True)
    except UNREADABLE as error:
        raise AuditError(f"{file}: not a TabPFN checkpoint ({reason(error)}); fetch the model again") from error


def _architecture(file: Path, content: object) -> str:
    """Return the package's name of the architecture. Raises AuditError for a file of another family.

    As in the package's own loader: files of v2 do not name it, those of v2.5 call it "base".
    """
    config = content.get("config") if isinstance(content, Mapping) else None
    if not isinstance(config, Mapping) or not {"max_num_classes", "num_buckets"} & set(config):
        raise AuditError(f"{file}: not a TabPFN checkpoint (another family's file); change the model's `family`")
    name = content.get("architecture_name", "tabpfn_v2")
    name = "tabpfn_v2_5" if name == "base" else name
    if name not in tuple(VERSIONS):
        raise AuditError(f"{file}: the architecture {name!r} is unknown; TabPFN has {', '.join(VERSIONS.values())}")
    return name


def _check_version(file: Path, actual: str, stated: str | None) -> None:
    """Raise AuditError if the file's name or the card states another version than the file's architecture has.

    v3.5-fast has the architecture of v3.5: only its name distinguishes it.
    """
    match = NAMED.match(file.name)
    named = match[1] if match else actual
    if named.removesuffix("-fast") != actual:
        raise AuditError(f"{file}: named {named}, but it holds a TabPFN {actual}; restore the file's name")
    if stated not in (None, named):
        raise AuditError(f"{file}: a TabPFN {named}, but the card says {stated}; change the model's `version`")


def _tasks(config: ArchitectureConfig) -> list[Task]:
    """Tasks of an architecture's heads: one up to v3, both from v3.5 on."""
    classes, both = config.max_num_classes >= 2, hasattr(config, "cell_ecdf_num_buckets")
    tasks: list[Task] = ["classification"] if classes else []
    return tasks + (["regression"] if config.num_buckets > 0 and (both or not classes) else [])


def _check_task(file: Path, tasks: list[Task], task: Task) -> None:
    if task not in tasks:
        raise AuditError(f"{file}: a TabPFN for {' and '.join(tasks)}, not for {task}; change the model's `task`")


def _build(
    architecture: str, config: ArchitectureConfig, state: Mapping[str, Tensor], task: Task
) -> tuple[nn.Module, FullSupportBarDistribution | None]:
    """The module with its weights, and the bars: stored beside the module up to v2.6, inside from v3 on."""
    module = ARCHITECTURES[architecture].get_architecture(config)
    beside = {name.removeprefix("criterion."): value for name, value in state.items() if name.startswith("criterion.")}
    module.load_state_dict({name: value for name, value in state.items() if not name.startswith("criterion.")})
    if task == "classification":
        return module, None
    borders = beside.get("borders", getattr(module, "regression_borders", None))
    if borders is None:
        raise ValueError("a regressor without borders of bars")
    return module, FullSupportBarDistribution(borders.detach().clone().float(), ignore_nan_targets=False)


def _limits(content: Mapping[str, Any], config: ArchitectureConfig, version: str, task: Task) -> Limits:
    """Limits of the checkpoint's inference config; v2 and v2.5 have none, theirs come from the package."""
    stated = content.get("inference_config")
    if not stated:
        kind = "multiclass" if task == "classification" else "regression"
        default = ModelVersion.V2 if version == "v2" else ModelVersion.V2_5
        stated = asdict(InferenceConfig.get_default(kind, default))
    classes = min(stated["MAX_NUMBER_OF_CLASSES"], config.max_num_classes) if task == "classification" else 0
    return Limits(rows=stated["MAX_NUMBER_OF_SAMPLES"], features=stated["MAX_NUMBER_OF_FEATURES"], classes=classes)
