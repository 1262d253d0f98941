"""Short names of models and groups on an audit's page; the annex has the whole ones."""

import re
from collections import Counter
from collections.abc import Mapping
from pathlib import PurePath

IMPORT = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+")
CHECKPOINTS = (".ckpt", ".pt", ".pth", ".safetensors", ".bin")
LONGEST = 40  # letters of a category's name


def short_models(models: Mapping[str, str]) -> dict[str, str]:
    """The class of an import path, the file of a path, other names as they are; the whole name where two are alike."""
    short = {key: _short(name) for key, name in models.items()}
    counts = Counter(short.values())
    return {key: name if counts[name] == 1 else models[key] for key, name in short.items()}


def shortened(name: str) -> str:
    """The name, cut after LONGEST letters."""
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 1].rstrip()}…"


def _short(name: str) -> str:
    path = PurePath(name)
    if len(path.parts) > 1:
        return path.name
    return name.rpartition(".")[2] if IMPORT.fullmatch(name) and not name.endswith(CHECKPOINTS) else name
