"""Models named by a user: from the catalogue, a checkpoint by its path, or an estimator by its import path."""

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

from memaudit.common.errors import AuditError
from memaudit.common.project_paths import PROJECT
from memaudit.config.name_checks import hint

SHIPPED = "tabicl-small"
IMPORT = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+")
FAMILIES = ("tabicl", "tabpfn")
CHECKPOINTS = (".ckpt", ".pt", ".pth", ".safetensors", ".bin")


def entries(names: Iterable[str], params: Mapping[str, Any] | None = None) -> tuple[dict[str, Any], list[str]]:
    """New entries of the catalogue for these names, and the catalogue's name of each, in order.

    params: arguments of an estimator. Raises AuditError for a name that is none of the three.
    """
    known = _catalogue()
    added: dict[str, Any] = {}
    chosen = []
    for place, name in enumerate(names, 1):
        if name in known:
            if known[name].get("task", "classification") != "classification":
                raise AuditError(f"--model {name}: predicts numbers; the audit needs a classifier")
            chosen.append(name)
            continue
        chosen.append(f"audited-{place}")
        added[chosen[-1]] = _entry(name, params or {}, list(known))
    return added, chosen


def _catalogue() -> dict[str, Any]:
    return yaml.safe_load((PROJECT / "config" / "models.yaml").read_text(encoding="utf-8"))["models"]


def tunable(name: str, added: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    """The entry of the catalogue for fine-tuning a model of `entries`, and its name.

    A checkpoint is fine-tuned and probed raw: an ensemble of views, or features of whole rows, would hide the records.
    Raises AuditError for a family that cannot be fine-tuned.
    """
    entry = (_catalogue() | added)[name]
    if entry["family"] != "tabicl":
        raise AuditError(f"--finetune: {name} is of the family {entry['family']}; only TabICL can be fine-tuned here")
    if entry.get("mode", "raw") == "raw":
        return {}, name
    return {"tuned": {**entry, "mode": "raw"}}, "tuned"


def _entry(name: str, params: Mapping[str, Any], known: list[str]) -> dict[str, Any]:
    family, _, rest = name.partition(":")
    path = Path(os.path.expanduser(rest if family in FAMILIES else name))
    if path.is_file():
        named = [known for known in FAMILIES if known in path.name.lower()]
        family = family if family in FAMILIES else (named[0] if len(named) == 1 else None)
        if family is None:
            raise AuditError(f"--model {name!a}: the name does not show the family; give tabicl:PATH or tabpfn:PATH")
        return {"family": family, "path": str(path.resolve()), "mode": "as_deployed", "licence": "the user's"}
    if IMPORT.fullmatch(name) and not name.endswith(CHECKPOINTS):
        return {"family": "estimator", "estimator": name, "params": dict(params), "licence": "the user's"}
    raise AuditError(
        f"--model {name!a}: is neither a file, nor an import path like package.Class, nor in the catalogue"
        f"{hint(name, known)}"
    )
