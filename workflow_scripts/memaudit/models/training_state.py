"""State file of a training run, from which a killed run continues and ends with the same bits."""

from collections.abc import Mapping
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import torch
from torch import Tensor
from torch.optim import Optimizer

from memaudit.common.errors import AuditError
from memaudit.common.io import readable, replacing
from memaudit.models.adamw import AdamW

Weights = Mapping[str, Tensor]


def save(path: Path, origin: Mapping[str, Any], weights: Weights, optimizer: Optimizer | AdamW, done: Any) -> None:
    """Replace the state file. origin: what must be equal for a run to continue, by name; done: progress so far."""
    state = {"origin": dict(origin), "weights": dict(weights), "optimizer": optimizer.state_dict(), "done": done}
    with replacing(path) as temporary:
        torch.save(state, temporary)


def resume(path: Path, origin: Mapping[str, Any], weights: Weights, optimizer: Optimizer | AdamW) -> Any:
    """Set the weights, in place, and the optimiser to the saved ones; return `done`, or None if there is no file.

    Raises AuditError if the file is damaged, is not a state, or belongs to a run of another origin.
    """
    if not path.exists():
        return None
    try:
        with readable(path):
            state = torch.load(path, map_location="cpu", weights_only=True)
    except UnpicklingError as error:
        raise _no_state(path) from error
    if not isinstance(state, dict) or not {"origin", "weights", "optimizer", "done"} <= state.keys():
        raise _no_state(path)
    for part, value in origin.items():
        if state["origin"].get(part) != value:
            raise AuditError(f"{path}: is the state of a run with other {part}; move it away to start again")
    with torch.no_grad():
        for name, weight in weights.items():
            weight.copy_(state["weights"][name])
    optimizer.load_state_dict(state["optimizer"])
    return state["done"]


def _no_state(path: Path) -> AuditError:
    return AuditError(f"{path}: not the state of a run; move it away to start again")
