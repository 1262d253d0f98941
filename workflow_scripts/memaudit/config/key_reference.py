"""Write config/README.md, the key reference, and config/schema.json, for editors, from the models of the config.

python -m memaudit.config.key_reference
"""

import json
from collections.abc import Iterator
from typing import get_args

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from memaudit.common.project_paths import PROJECT
from memaudit.config.schema import Config

SIGNS = [("ge", "≥"), ("gt", ">"), ("le", "≤"), ("lt", "<")]
FOLDER = PROJECT / "config"
HEAD = """# Config
`config.yaml` is the embedded default; `--configfile config/smoke.yaml` (every rule at its smallest) or
`config/paper.yaml` (the papers' sizes) lies over it: lists are replaced, catalogues (`datasets`, `models`,
`data/splits`) are merged. A wrong key, type, name or combination ends the run before any job, with the key's path and
a hint. A relative path starts at the folder where the workflow is run; models, public facts and settings that only the
project has there are the project's. Cores, memory, partitions and GPUs are not config: they belong to `profiles/`.

This page is generated from `workflow_scripts/memaudit/config/schema.py` by `make docs`, which also writes
`config/schema.json`: a JSON schema with which an editor completes and checks keys. It is not kept in git.

| key | type | meaning |
|---|---|---|
"""


def schema() -> str:
    """JSON schema of the config, for editors."""
    return json.dumps(Config.model_json_schema(), indent=1, sort_keys=True) + "\n"


def readme() -> str:
    """Markdown reference of every key."""
    rows = (f"| `{key}` | {kind} | {meaning} |" for key, kind, meaning in keys())
    return HEAD + "\n".join(rows) + "\n"


def keys(model: type[BaseModel] = Config, prefix: str = "") -> Iterator[tuple[str, str, str]]:
    """Path, type and meaning of every key; `<name>` stands for the names of a catalogue."""
    for name, field in model.model_fields.items():
        sections = _sections(field.annotation)
        if not sections:
            yield prefix + name, _type(field), field.description or ""
        many = getattr(field.annotation, "__origin__", None) is dict
        for nested in sections:
            yield f"{prefix}{name}{'/<name>' if many else ''}", "section", field.description or nested.__doc__ or ""
            yield from keys(nested, f"{prefix}{name}/{'<name>/' if many else ''}")


def _sections(annotation: object) -> list[type[BaseModel]]:
    """Sections that a key may hold: several where its `kind` decides."""
    candidates = [annotation, *get_args(annotation)]
    return [kind for kind in candidates if isinstance(kind, type) and issubclass(kind, BaseModel)]


def _type(field: FieldInfo) -> str:
    limits = [
        f", {sign} {getattr(item, name)}" for item in field.metadata for name, sign in SIGNS if hasattr(item, name)
    ]
    default = "" if field.is_required() else f", default `{json.dumps(field.default)}`"
    return (_name(field.annotation) + "".join(limits) + default).replace("|", "\\|")


def _name(annotation: object) -> str:
    parts = get_args(annotation)
    if not parts:
        return "null" if annotation is type(None) else getattr(annotation, "__name__", str(annotation))
    if all(isinstance(part, str) for part in parts):
        return " | ".join(f"`{part}`" for part in parts)
    origin = getattr(annotation, "__origin__", None)
    if origin in (list, dict):
        return f"{origin.__name__} of {_name(parts[-1])}"
    if hasattr(annotation, "__metadata__"):
        return _name(parts[0])
    return " | ".join(_name(part) for part in parts)


def main() -> None:
    """Write both files."""
    (FOLDER / "schema.json").write_text(schema(), encoding="utf-8")
    (FOLDER / "README.md").write_text(readme(), encoding="utf-8")


if __name__ == "__main__":
    main()
