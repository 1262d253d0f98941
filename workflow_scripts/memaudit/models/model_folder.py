"""Open a model folder: `model.json` and the folder `weights`, as the fetch rule leaves them."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from memaudit.checksums import sha256
from memaudit.errors import AuditError
from memaudit.io import DAMAGED, read_json
from memaudit.models.model_protocol import TabularModel

DEVICE = "MEMAUDIT_DEVICE"


def load(card: str | Path, threads: int = 1, schema: Mapping[str, Any] | None = None) -> TabularModel:
    """The model whose `model.json` is `card`, on the device of `device()`, ready to answer in fp32.

    schema: of the table that it will be asked about, for families that need names or categories. Raises AuditError for
    a family that is not known, or weights that are none of it or not the card's.
    """
    facts = read_json(card)
    weights = Path(card).parent / "weights"
    if sha256(weights) != facts["sha256"]:
        raise AuditError(f"{weights}: not the weights that {card} describes; {DAMAGED}")
    device = set_up(threads)
    return branch(facts["family"], facts["mode"]).load(weights, facts, device, schema)


def set_up(threads: int) -> str:
    """Set torch up for a job of so many threads, to give the same numbers again; returns the device to use."""
    torch.set_num_threads(threads)
    torch.set_flush_denormal(True)
    torch.use_deterministic_algorithms(True, warn_only=True)
    torch.backends.cuda.matmul.allow_tf32 = False
    return device()


def branch(family: str, mode: str) -> type[TabularModel]:
    """The class of a family in a mode; only what is asked for is imported (tabpfn alone takes seconds).

    Raises AuditError for one that is not known.
    """
    match family, mode:
        case "tabicl", "raw":
            from memaudit.models.tabicl import TabICLBranch

            return TabICLBranch
        case "tabpfn", "raw":
            from memaudit.models.tabpfn import TabPFNBranch

            return TabPFNBranch
        case "tabicl" | "tabpfn", "as_deployed":
            from memaudit.models.deployed_estimators import Deployed

            return Deployed
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


def device() -> str:
    """Where models run: what the variable MEMAUDIT_DEVICE says (cpu, cuda, cuda:1), else a GPU if there is one.

    Raises AuditError for a device that is not there.
    """
    wanted = os.environ.get(DEVICE, "")
    if not wanted:
        return "cuda" if torch.cuda.is_available() else "cpu"
    there = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]
    there += [f"cuda:{number}" for number in range(torch.cuda.device_count())]
    if wanted not in there:
        raise AuditError(f"{DEVICE}={wanted}: there is no such device here; say one of {', '.join(there)}, or nothing")
    return wanted
