"""Checkpoints of fine-tuning stored as differences from the base model.

A file holds only the tensors that training has changed. In bf16 it holds their change: half the bytes of the
weights, and an error of at most 2^-8 of the change itself, where bf16 weights would err by 2^-8 of the weights. In fp32
it holds the changed tensors as they are, to the bit. Tensors that the base lacks (adapters) are kept whole.
"""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from memaudit.common.errors import AuditError
from memaudit.common.io import DAMAGED, readable, replacing

Dtype = Literal["bfloat16", "float32"]
State = Mapping[str, Tensor]
FACTS = "memaudit"  # one metadata key: the order of several would change from file to file


def write(path: str | Path, base: State, state: State, epoch: int, dtype: Dtype = "bfloat16") -> int:
    """Write the difference of `state` from `base`; return the number of bytes on disk."""
    changed = {
        name: _stored(value, base.get(name), dtype)
        for name, value in state.items()
        if name not in base or not torch.equal(value, base[name])
    }
    facts = {"base": fingerprint(base), "epoch": epoch, "dtype": dtype}
    with replacing(path) as temporary:
        save_file(changed, temporary, metadata={FACTS: json.dumps(facts, sort_keys=True)})
    return Path(path).stat().st_size


def read(path: str | Path, base: State) -> dict[str, Tensor]:
    """Return the state that was written, on the base's device: exact in fp32, within 2^-8 of every change in bf16.

    Raises AuditError if the file is missing, damaged or was written with another base.
    """
    facts = read_facts(path)
    if facts["base"] != fingerprint(base):
        raise AuditError(f"{path}: a checkpoint of another base model; load the base that it was fine-tuned from")
    with readable(path), safe_open(path, framework="pt") as file:
        kept = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    return dict(base) | {name: _restored(value, base.get(name), facts["dtype"]) for name, value in kept.items()}


def read_facts(path: str | Path) -> dict[str, Any]:
    """Return a checkpoint's metadata: `base` (fingerprint), `epoch`, `dtype`. Raises AuditError for another file."""
    try:
        with readable(path), safe_open(path, framework="pt") as file:
            return json.loads((file.metadata() or {})[FACTS])
    except (SafetensorError, KeyError) as error:
        raise AuditError(f"{path}: not a checkpoint of fine-tuning; {DAMAGED}") from error


def fingerprint(state: State) -> str:
    """Return a hash of names, types, shapes and bits of all tensors."""
    sha = hashlib.sha256()
    for name, value in sorted(state.items()):
        sha.update(f"{name}\0{value.dtype}\0{tuple(value.shape)}\0".encode())
        sha.update(value.detach().cpu().contiguous().view(-1).view(torch.uint8).numpy())
    return sha.hexdigest()


def _stored(value: Tensor, base: Tensor | None, dtype: Dtype) -> Tensor:
    value = value.detach()
    if dtype == "bfloat16" and value.is_floating_point():
        value = (value if base is None else value - base).bfloat16()
    return value.cpu().clone(memory_format=torch.contiguous_format)


def _restored(kept: Tensor, base: Tensor | None, dtype: Dtype) -> Tensor:
    if base is None:
        return kept.float() if kept.is_floating_point() else kept
    if dtype == "bfloat16" and kept.is_floating_point():
        return base + kept.to(base)
    return kept.to(base.device)
