"""Open a model folder (`model.json` and the folder `weights`, written by the fetch rule) on the device to use."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from memaudit.common.checksums import sha256
from memaudit.common.errors import AuditError
from memaudit.common.io import DAMAGED, read_json
from memaudit.models.model_protocol import TabularModel
from memaudit.models.torch_settings import make_deterministic, reuse_memory

DEVICE = "MEMAUDIT_DEVICE"


def load(card: str | Path, threads: int = 1, schema: Mapping[str, Any] | None = None) -> TabularModel:
    """Load the model whose `model.json` is `card`, in fp32 on the device of `device()`.

    schema: of the table that it will predict, for families that need names or categories. Raises AuditError for an
    unknown family, and for weights of another family or other than the card describes.
    """
    facts = read_json(card)
    weights = Path(card).parent / "weights"
    if sha256(weights) != facts["sha256"]:
        raise AuditError(f"{weights}: not the weights that {card} describes; {DAMAGED}")
    device = set_up(threads)
    return branch(facts["family"], facts["mode"]).load(weights, facts, device, schema)


def set_up(threads: int) -> str:
    """Make torch deterministic with this number of threads; return the device to use."""
    make_deterministic(threads)
    reuse_memory()
    return device()


def branch(family: str, mode: str) -> type[TabularModel]:
    """Return the class of a family in a mode; only that one is imported (tabpfn alone takes seconds).

    Raises AuditError for an unknown family or mode.
    """
    match family, mode:
        case "tabicl", "raw":
            from memaudit.models.tabicl import TabICLBranch

            return TabICLBranch
        case "tabpfn", "raw":
            from memaudit.models.tabpfn import TabPFNBranch

            return TabPFNBranch
        case "tabicl" | "tabpfn" | "tabdpt" | "mitra" | "sdm" | "tabfm", "as_deployed":
            return _deployed(family)
        case "contexttab", _:
            from memaudit.models.contexttab import ConTextTabBranch

            return ConTextTabBranch
        case "text", _:
            from memaudit.models.text_table_models import TextBranch

            return TextBranch
        case "estimator", _:
            from memaudit.models.sklearn_estimators import EstimatorBranch

            return EstimatorBranch
    raise AuditError(f"unknown family of models: {family!r} in mode {mode!r}; see config/README.md")


def _deployed(family: str) -> type[TabularModel]:
    if family in ("tabicl", "tabpfn"):
        from memaudit.models.deployed_estimators import Deployed

        return Deployed
    from memaudit.models.packaged_models import PackagedModel

    return PackagedModel


def device() -> str:
    """Return the device of the variable MEMAUDIT_DEVICE (cpu, cuda, cuda:1), else a GPU if there is one.

    Raises AuditError for a missing device.
    """
    requested = os.environ.get(DEVICE, "")
    if not requested:
        return "cuda" if torch.cuda.is_available() else "cpu"
    available = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]
    available += [f"cuda:{number}" for number in range(torch.cuda.device_count())]
    if requested not in available:
        raise AuditError(
            f"{DEVICE}={requested}: there is no such device here; set one of {', '.join(available)}, or nothing"
        )
    return requested
