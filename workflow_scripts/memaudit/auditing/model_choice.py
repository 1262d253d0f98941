"""The model that a user names: one of the catalogue, a checkpoint by its path, or an estimator by its import path."""

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

from memaudit.config.name_checks import hint
from memaudit.errors import AuditError
from memaudit.workflow.project_paths import PROJECT

SHIPPED = "tabicl-small"
IMPORT = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+")
FAMILIES = ("tabicl", "tabpfn")
CHECKPOINTS = (".ckpt", ".pt", ".pth", ".safetensors", ".bin")


def entries(names: Iterable[str], params: Mapping[str, Any] | None = None) -> tuple[dict[str, Any], list[str]]:
    """Entries of the catalogue that the names add to it, and the name that each has there, in order.

    params: arguments of an estimator. Raises AuditError for what is neither of the three.
    """
    known = _catalogue()
    added: dict[str, Any] = {}
    called = []
    for place, name in enumerate(names, 1):
        if name in known:
            if known[name].get("task", "classification") != "classification":
                raise AuditError(f"--model {name}: predicts numbers; the audit needs a classifier")
            called.append(name)
            continue
        called.append(f"audited-{place}")
        added[called[-1]] = _entry(name, params or {}, list(known))
    return added, called


def _catalogue() -> dict[str, Any]:
    return yaml.safe_load((PROJECT / "config" / "models.yaml").read_text(encoding="utf-8"))["models"]


def tunable(name: str, added: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    """The entry that fine-tuning adds for a model of `entries`, and the name it has.

    Raises AuditError for a family that cannot be fine-tuned. A checkpoint is fine-tuned and probed raw: an ensemble of
    views, or features of whole rows, would hide the records.
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
            raise AuditError(f"--model {name!a}: of which family is it? say tabicl:PATH or tabpfn:PATH")
        return {"family": family, "path": str(path.resolve()), "mode": "as_deployed", "licence": "the user's"}
    if IMPORT.fullmatch(name) and not name.endswith(CHECKPOINTS):
        return {"family": "estimator", "estimator": name, "params": dict(params), "licence": "the user's"}
    raise AuditError(f"--model {name!a}: no file, no import path like package.Class, no model{hint(name, known)}")
