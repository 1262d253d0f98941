"""Models named by a user: from the catalogue, a checkpoint by its path, or an estimator by its import path."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

from memaudit.auditing.reading.checkpoint_families import FAMILIES
from memaudit.auditing.reading.short_names import CHECKPOINTS, IMPORT
from memaudit.auditing.reading.table_columns import CLASSIFICATION, REGRESSION
from memaudit.common.deployed_packages import PACKAGES, faults, has_folder
from memaudit.common.errors import AuditError
from memaudit.common.project_paths import PROJECT
from memaudit.config.name_checks import hint

ADDED, REGRESSOR = "audited-", "-regression"
OF_WEIGHTS = ("path", "hub", "sha256", "licence", "terms")
USERS = "the user's"


def entries(
    names: Iterable[str], params: Mapping[str, Any] | None = None, task: str | None = None
) -> tuple[dict[str, Any], list[str]]:
    """New entries of the catalogue for these names, and the catalogue's name of each, in order.

    params: arguments of an estimator; task: of the audit, None: not known yet. For a model of the catalogue that has
    another task the one of the same checkpoint's family for this task is taken, NAME-regression for NAME. Raises
    AuditError for a name that is none of the three, and for a model without such a sibling.
    """
    known = _catalogue()
    added: dict[str, Any] = {}
    chosen = []
    for place, name in enumerate(names, 1):
        if name in known:
            chosen.append(_for_task(name, task, known) if task else name)
            continue
        chosen.append(f"{ADDED}{place}")
        added[chosen[-1]] = _entry(name, params or {}, known) | {"task": task or CLASSIFICATION}
        _check_file(added[chosen[-1]], name, task)
    return added, chosen


def labels(names: Iterable[str], chosen: Iterable[str]) -> list[str]:
    """What each model of `entries` is called: the catalogue's name, or what the user gave."""
    return [name if used.startswith(ADDED) else used for name, used in zip(names, chosen, strict=True)]


def _check_file(entry: Mapping[str, Any], name: str, task: str | None) -> None:
    """Raise AuditError for a checkpoint whose name, as the packages publish them, says another task.

    And for one of a package that does not have the task, or has several networks of which none is named.
    """
    if entry["family"] in PACKAGES:
        for fault in faults(entry["family"], entry["task"], entry["version"], {}):
            raise AuditError(f"--model {name!r}: {fault}; give FAMILY:PATH, or FAMILY/VERSION:PATH")
    other = {CLASSIFICATION: "regressor", REGRESSION: "classifier"}.get(task, "-")
    if other in Path(entry.get("path", "")).name.lower().split(".")[0].split("-"):
        predicted = "a number" if task == REGRESSION else "a class"
        raise AuditError(
            f"--model {name!r}: a {other} by its name, but the target is {predicted}; give another, or --task"
        )


def _for_task(name: str, task: str, known: Mapping[str, Any]) -> str:
    sibling = f"{name}{REGRESSOR}" if task == REGRESSION else name.removesuffix(REGRESSOR)
    for one in (name, sibling):
        if one in known and known[one].get("task", CLASSIFICATION) == task:
            return one
    predicted = (
        "a number, which this model does not predict" if task == REGRESSION else "a class, which it does not predict"
    )
    raise AuditError(f"--model {name}: the target is {predicted}; name another model, or set --task")


def _catalogue() -> dict[str, Any]:
    return yaml.safe_load((PROJECT / "config" / "models.yaml").read_text(encoding="utf-8"))["models"]


def tunable(name: str, added: Mapping[str, Any], called: str = "") -> tuple[dict[str, Any], str]:
    """The entry of the catalogue for fine-tuning a model of `entries`, and its name.

    A checkpoint is fine-tuned and probed raw: an ensemble of views, or features of whole rows, would hide the records.
    Raises AuditError for a family that cannot be fine-tuned; called: what the user calls the model, if not so.
    """
    entry = (_catalogue() | added)[name]
    if entry["family"] != "tabicl":
        raise AuditError(
            f"--finetune: {called or name} is of the family {entry['family']}; only TabICL can be fine-tuned here"
        )
    if entry.get("mode", "raw") == "raw":
        return {}, name
    return {"tuned": {**entry, "mode": "raw"}}, "tuned"


def readable(name: str, added: Mapping[str, Any], called: str = "") -> tuple[dict[str, Any], str]:
    """The entry of the catalogue whose attention is read for a model of `entries`, and its name.

    The attention of a checkpoint that is audited as deployed is that of its raw view. Raises AuditError for a family
    whose attention on a context is not read; called: what the user calls the model, if not so.
    """
    entry = (_catalogue() | added)[name]
    if entry["family"] not in FAMILIES:
        raise AuditError(
            f"--threats white-box: {called or name} is of the family {entry['family']}, whose attention on its "
            "context is not read here; name a TabICL or TabPFN, or leave white-box out"
        )
    if entry.get("mode", "raw") == "raw":
        return {}, name
    return {"inside": {**entry, "mode": "raw"}}, "inside"


def _entry(name: str, params: Mapping[str, Any], known: Mapping[str, Any]) -> dict[str, Any]:
    prefix, _, rest = name.partition(":")
    family, _, version = prefix.partition("/")
    given = rest != "" and family in (*FAMILIES, *PACKAGES)
    path = Path(os.path.expanduser(rest if given else name))
    if rest and not given and prefix in known:
        return _with_own_weights(known[prefix], Path(os.path.expanduser(rest)), name)
    if path.is_file() or (given and has_folder(family) and path.is_dir()):
        named = [known for known in (*FAMILIES, *PACKAGES) if known in path.name.lower()]
        family = family if given else (named[0] if len(named) == 1 else None)
        if family is None:
            raise AuditError(
                f"--model {name!r}: the name does not show the family; give tabicl:PATH or tabpfn:PATH, or that of "
                f"another one: {', '.join(PACKAGES)}"
            )
        entry = {"family": family, "path": str(path.resolve()), "mode": "as_deployed", "licence": USERS}
        return entry | ({"version": (given and version) or None} if family in PACKAGES else {})
    if IMPORT.fullmatch(name) and not name.endswith(CHECKPOINTS):
        return {"family": "estimator", "estimator": name, "params": dict(params), "licence": USERS}
    raise AuditError(
        f"--model {name!r}: is neither a file, nor an import path like package.Class, nor in the catalogue"
        f"{hint(name, list(known))}"
    )


def _with_own_weights(entry: Mapping[str, Any], path: Path, name: str) -> dict[str, Any]:
    """An entry of the catalogue, with its mode and options, whose weights are the user's. Raises AuditError."""
    if "estimator" in entry or not (path.is_dir() if has_folder(entry["family"]) else path.is_file()):
        raise AuditError(f"--model {name!r}: behind the catalogue's name give the path of its weights")
    kept = {key: value for key, value in entry.items() if key not in OF_WEIGHTS}
    return kept | {"version": entry.get("version"), "path": str(path.resolve()), "licence": USERS}
