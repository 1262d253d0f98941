"""Open a model folder: weights and `model.json`, as the fetch rule leaves it."""

from pathlib import Path

import torch

from memaudit.digest import sha256
from memaudit.errors import AuditError
from memaudit.io import DAMAGED, read_json
from memaudit.models.protocol import TabularModel
from memaudit.models.tabicl import TabICLBranch

FAMILIES = {"tabicl": TabICLBranch}


def load(card: str | Path, threads: int = 1) -> TabularModel:
    """The model whose `model.json` is `card`, on the GPU if there is one, ready to answer in fp32.

    Raises AuditError for a family that is not known, or weights that are none of it or not the card's.
    """
    facts = read_json(card)
    weights = Path(card).parent / facts["file"]
    if sha256(weights) != facts["sha256"]:
        raise AuditError(f"{weights}: not the weights that {card} describes; {DAMAGED}")
    if facts["family"] not in FAMILIES:
        raise AuditError(f"{card}: unknown family {facts['family']!r}; known: {', '.join(FAMILIES)}")
    torch.set_num_threads(threads)
    torch.set_flush_denormal(True)
    torch.use_deterministic_algorithms(True, warn_only=True)
    torch.backends.cuda.matmul.allow_tf32 = False
    return FAMILIES[facts["family"]].load(weights, device())


def device() -> str:
    """Where models run: the first GPU if there is one, else the CPU."""
    return "cuda" if torch.cuda.is_available() else "cpu"
