"""Check a config before any job starts: types and names first, then what only several keys together can get wrong."""

import re
from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any, Literal, get_args, get_origin
from urllib.parse import parse_qsl

from pydantic import ValidationError
from typing_extensions import is_typeddict

from memaudit.common.deployed_packages import PACKAGES, has_folder
from memaudit.common.deployed_packages import faults as package_faults
from memaudit.common.errors import AuditError
from memaudit.config.attacks_section import attacks_faults
from memaudit.config.audit_section import audit_faults
from memaudit.config.iclmem_section import iclmem_faults
from memaudit.config.key_places import place
from memaudit.config.lira_section import lira_faults
from memaudit.config.ltmia_section import ltmia_faults
from memaudit.config.name_checks import CATALOGUES, closest, hint, unknown
from memaudit.config.predict_section import predict_faults
from memaudit.config.release_section import release_faults
from memaudit.config.schema import Config
from memaudit.config.shared_keys import PREDICTORS, Dataset, LanguageModel, Model
from memaudit.config.tabpate_section import tabpate_faults

CATALOGUED = {"datasets": Dataset, "models": Model, "language_models": LanguageModel}
SECRETS = ("token", "key", "sig", "signature", "password")
# What tabicl 2.2.0 and tabpfn 9.2.0 know, and networks of which a model has to name one; families that are queried in
# one way alone.
VERSIONS = {"tabicl": ["v1", "v1.1", "v2"], "tabpfn": ["v2", "v2.5", "v2.6", "v3", "v3.5", "v3.5-fast"]}
VERSIONS |= {name: list(package.versions) for name, package in PACKAGES.items()}
SIZELESS = "parameters: of a language model of a hub, state the number of weights, as its page does; the plan needs it"
MODES = {"contexttab": "as_deployed", "text": "raw", "estimator": "raw"} | dict.fromkeys(PACKAGES, "as_deployed")


def checked(config: dict[str, Any], files: Sequence[str | Path] = ()) -> dict[str, Any]:
    """The config with optional catalogue keys filled in. Raises AuditError naming every fault: key path and remedy.

    files: those that the config was read from, in which the line of a wrong key is looked up.
    """
    try:
        parsed = Config.model_validate(config)
    except ValidationError as error:
        found = {_where(fault, config): _explain(fault, config) for fault in reversed(error.errors())}
        faults = [fault + place(where.split("/"), files) for where, fault in reversed(found.items())]
        if (meant := _as_meant(config, error)) is not None:
            faults += _at_their_places(_contradictions(meant))
    else:
        faults = _at_their_places(_contradictions(parsed))
    if faults:
        raise AuditError("; ".join(faults))
    return parsed.model_dump()


def _as_meant(config: dict[str, Any], error: ValidationError) -> Config | None:
    """The config with unknown keys renamed to those probably meant, or left out; None if its shape is wrong then."""
    meant = deepcopy(config)
    for *path, key in (fault["loc"] for fault in error.errors() if fault["type"] == "extra_forbidden"):
        at: Any = meant
        for part in path:
            # Pydantic names the branch of a union, too, which is no key.
            below = at[part] if isinstance(at, list) else at.get(part)
            at = below if isinstance(below, dict | list) else at
        if key in at:  # sections that YAML shares by an anchor are one
            value, name = at.pop(key), closest(key, _known_keys(tuple(path)))
            at |= {name: value} if name and name not in at else {}
    try:
        return Config.model_validate(meant)
    except ValidationError:
        return None


def _at_their_places(faults: Iterable[str]) -> list[str]:
    """Each fault once, at the first key that has it, with the others behind it."""
    places: dict[str, list[str]] = {}
    for fault in faults:
        where, _, what = fault.partition(": ")
        places.setdefault(what, []).append(where)
    others = {what: ", ".join(dict.fromkeys(found[1:])) for what, found in places.items()}
    return [f"{found[0]}: {what}" + f" (also {others[what]})" * bool(others[what]) for what, found in places.items()]


def _where(fault: dict[str, Any], config: dict[str, Any]) -> str:
    """The path of a fault's key, made of keys that the user has."""
    *path, last = fault["loc"]
    if fault["type"] == "missing" or last == "[key]":  # [key]: the name itself is wrong
        return "/".join([*_keys_of(path, config), str(last)])
    return "/".join(_keys_of([*path, last], config))


def _keys_of(loc: Sequence[str | int], at: Any) -> list[str]:
    """The parts of a fault's place that are keys or indices: pydantic names the branch of a union that it tried, too.

    A branch may be called like a key beside it: the reading that leads to the last part is preferred, then the longest.
    """
    if not loc:
        return []
    part, *below = loc
    readings = [_keys_of(below, at)] if isinstance(part, str) else []  # no branch is called by a number
    if part in at if isinstance(at, dict) else isinstance(at, list) and isinstance(part, int):
        readings.append([str(part), *_keys_of(below, at[part])])
    return max(readings, key=lambda keys: (keys[-1:] == [str(loc[-1])], len(keys)), default=[])


def _explain(fault: dict[str, Any], config: dict[str, Any]) -> str:
    where = _where(fault, config)
    if fault["type"] == "extra_forbidden":
        known = _known_keys(fault["loc"][:-1])
        return f"{where}: unknown key{_beside(fault) or hint(fault['loc'][-1], known)}"
    if fault["type"] == "missing":
        return f"{where}: missing; see config/README.md"
    empty = fault["input"] is None and (_is_section(fault) or fault["type"].startswith("model_"))
    if empty:
        return f"{where}: is empty; indent what belongs to it, by two blanks more than its name"
    if len(fault["loc"]) == 2 and _is_section(fault) and fault["loc"][1] in _keys(CATALOGUED[fault["loc"][0]]):
        return f"{where}: is a key of an entry of `{fault['loc'][0]}`; indent it below the entry's name"
    message = fault["msg"].removeprefix("Value error, ").replace("Input should be", "must be")
    # YAML reads yes, no, on and off as true and false, and 1 as a number.
    quotes = "; put it in quotes" if fault["type"] == "string_type" and isinstance(fault["input"], bool | int) else ""
    return f"{where}: {message[0].lower()}{message[1:]}, got {fault['input']!r}{quotes}"


def _is_section(fault: dict[str, Any]) -> bool:
    """Whether a catalogue, or one of its entries, is no mapping."""
    return fault["loc"][0] in CATALOGUED and len(fault["loc"]) <= 2 and fault["type"].endswith(("_type", "_attributes"))


def _beside(fault: dict[str, Any]) -> str:
    """The remedy for an entry of a catalogue that stands beside it, empty for another unknown key."""
    if len(fault["loc"]) > 1 or not isinstance(fault["input"], dict):
        return ""
    for name, kind in CATALOGUED.items():
        required = {key for key, field in kind.model_fields.items() if field.is_required()}
        if required and required <= fault["input"].keys():
            return f"; if it is an entry of `{name}`, indent it below that key, by two blanks"
    return ""


def _known_keys(path: tuple[Any, ...]) -> list[str]:
    """The keys of the section at a fault's place, where a part may name the branch of a union."""
    kinds: list[Any] = [Config]
    for part in path:
        if part in CATALOGUES and kinds == [Config]:
            kinds = [CATALOGUED[part]]
        elif len(kinds) > 1 and (named := [kind for kind in kinds if part in _branch_names(kind)]):
            kinds = named
        else:
            below = [one for kind in kinds if part in _keys(kind) for one in _sections(_keys(kind)[part])]
            kinds = below or kinds
    return list(dict.fromkeys(key for kind in kinds for key in _keys(kind)))


def _sections(kind: Any) -> Iterator[Any]:
    """The sections and mappings with named keys in an annotation."""
    if _keys(kind):
        yield kind
    for part in get_args(kind):
        yield from _sections(part)


def _branch_names(kind: Any) -> set[Any]:
    """The values of the keys by which a union tells a section from others."""
    return {value for of_key in _keys(kind).values() if get_origin(of_key) is Literal for value in get_args(of_key)}


def _keys(kind: Any) -> dict[str, Any]:
    """The keys of a section or of a mapping with named keys, and their types; of another type none."""
    if hasattr(kind, "model_fields"):
        return {name: field.annotation for name, field in kind.model_fields.items()}
    return kind.__annotations__ if is_typeddict(kind) else {}


def _contradictions(config: Config) -> Iterator[str]:
    yield from unknown("data/datasets", config.data.datasets, "datasets", config)
    yield from unknown("accept_licences", config.accept_licences, "models", config)
    for name in config.data.datasets:
        if name in config.datasets and config.datasets[name].kind != "table":
            yield f"data/datasets: {name} is no table"
    for name, entry in config.datasets.items():
        yield from (f"datasets/{name}: {fault}" for fault in _dataset_faults(entry))
    for name, model in config.models.items():
        yield from (f"models/{name}: {fault}" for fault in _model_faults(model))
    for name, split in config.data.splits.items():
        if (
            isinstance(split.members, float)
            and isinstance(split.nonmembers, float)
            and split.members + split.nonmembers > 1 + 1e-9
        ):
            total = split.members + split.nonmembers
            yield f"data/splits/{name}: members + nonmembers is {total:g}, more than all records"
    yield from lira_faults(config.lira, config)
    yield from attacks_faults(config.attacks, config, config.audit.dataset if config.audit else None)
    for name, model in config.language_models.items():
        yield from (f"language_models/{name}: {fault}" for fault in _language_model_faults(model))
    yield from tabpate_faults(config.tabpate, config)
    yield from iclmem_faults(config.iclmem, config)
    yield from ltmia_faults(config.ltmia, config)
    yield from predict_faults(config.predict, config.own, config)
    yield from release_faults(config.release, config)
    yield from audit_faults(config.audit, config.attacks, config)


def _dataset_faults(entry: Dataset) -> Iterator[str]:
    key = {"openml": "id", "file": "path", "url": "url", "package": "package"}.get(entry.source, "name")
    if getattr(entry, key) is None:
        yield f"source `{entry.source}` needs `{key}`"
    if entry.kind == "text" and entry.source not in ("package", "file", "hub"):
        yield f"kind `text` comes from a package, file or hub, not from {entry.source}"
    if entry.kind == "table" and entry.source == "package":
        yield "a package holds texts; set kind to text"
    if entry.document_start is not None and not (entry.kind == "text" and entry.source in ("file", "hub")):
        yield "`document_start` is for texts of a file or hub"
    try:
        re.compile(entry.document_start or "")
    except re.error as error:
        yield f"document_start is no regular expression ({error})"
    if entry.url and _holds_secret(entry.url):
        # The address itself is not shown: a terminal's output is kept in logs.
        yield "`url` holds a password or key, which results/<run>/config.yaml would show; fetch it, use `source: file`"
    if entry.kind == "table" and entry.target is None:
        yield "a table needs `target`, the column to predict"
    if entry.balance and entry.task != "classification":
        yield "`balance` is for classification"
    usual = type(entry.limits)()
    wider = [key for key in ("tvd", "ks", "wasserstein") if getattr(entry.limits, key) > getattr(usual, key)]
    if wider and not entry.limits.reason:
        yield f"limits/{wider[0]} is wider than {getattr(usual, wider[0])}; say why in limits/reason"


def _model_faults(model: Model) -> Iterator[str]:
    given = [key for key in ("path", "hub", "estimator") if getattr(model, key) is not None]
    wanted = {"estimator"} if model.family == "estimator" else {"path", "hub"}
    if len(given) != 1 or not wanted.issuperset(given):
        yield f"give {' or '.join(f'`{key}`' for key in sorted(wanted, reverse=True))}, and one thing alone"
    if model.params and not model.estimator:
        yield "`params` are an estimator's; settings of a family stand in `options`"
    if model.hub:
        yield from _hub_faults(model)
    if model.mode != MODES.get(model.family, model.mode):
        yield f"mode: family {model.family} has {MODES[model.family]} alone"
    versions = VERSIONS.get(model.family, [])
    if model.version and model.version not in versions:
        yield f"version: unknown {model.version!r}; known: {', '.join(versions) or f'none of family {model.family}'}"
    if model.family in PACKAGES:
        yield from package_faults(model.family, model.task, model.version, model.options)
    file = Path(model.path or (model.hub and model.hub.file) or "").name
    if model.family == "tabpfn" and model.version and not _is_named(file, model.version):
        yield f"version: {model.version}, and the file's name says another: {file}"
    for task, called in PREDICTORS.items():
        if task != model.task and called in file:
            yield f"task: {model.task}, and the file's name says {called}: {file}"


def _hub_faults(model: Model) -> Iterator[str]:
    if has_folder(model.family):
        if model.hub.folder is None or model.hub.file:
            yield f"hub/folder: name the folder of config.json that a model of family {model.family} is, without `file`"
    elif (model.hub.file is None) != (model.family == "text") or model.hub.folder:
        yield "hub/file: name the checkpoint's file; a model of family `text` is the whole repository, without `file`"
    if model.family == "text" and model.parameters is None:
        yield SIZELESS


def _language_model_faults(model: LanguageModel) -> Iterator[str]:
    given = [key for key in ("model_type", "hub", "path") if getattr(model, key) is not None]
    if len(given) != 1:
        yield "give `model_type`, `hub` or `path`, and one thing alone"
    elif model.hub and model.parameters is None:
        yield SIZELESS
    if model.config and model.model_type is None:
        yield "`config` is for `model_type`; a model that is there has its own"
    if model.hub and model.hub.file:
        yield "hub/file: a language model is the whole repository; leave `file` out"


def _is_named(file: str, version: str) -> bool:
    """Whether a checkpoint's name is that of a version, or of none: tabpfn-v2.5-classifier.ckpt."""
    found = re.match(r"tabpfn-(v\d+(?:\.\d+)?(?:-fast)?)", file)
    return found is None or found[1] == version


def _holds_secret(url: str) -> bool:
    """Whether an address has userinfo, or a query key that ends like a secret's (api_key, X-Amz-Signature)."""
    query = url.partition("#")[0].partition("?")[2]
    keys = [key.lower() for key, _ in parse_qsl(query, keep_blank_values=True)]
    return bool(re.match(r"[^/?#]*//[^/?#]*@", url)) or any(key.endswith(SECRETS) for key in keys)
