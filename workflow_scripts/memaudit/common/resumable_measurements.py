"""Measurements of named parts into one JSON file, which an interrupted run goes on with where it ended."""

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from memaudit.common.errors import AuditError
from memaudit.common.io import read_json, write_json

Part = Mapping[str, Any]


def resume(
    path: Path,
    key: str,
    parts: Collection[str],
    measure: Callable[[str], Part],
    is_current: Callable[[str, Part], bool],
    *,
    only: Collection[str] = (),
    force: bool = False,
    described: Callable[[str], Part] = lambda _: {},
    facts: Part = MappingProxyType({}),
) -> None:
    """Measure the parts that the file lacks or has out of date, or those of `only`; all with `force`.

    path: the file, written after every part; its key `key` has what is known of each part, by name, and a part that is
    gone leaves it. measure: one part, with `cpu_seconds`; is_current: whether what is known of a part need not be
    measured again; described: texts of a part, always those of the code; facts: further keys of the file.
    Raises AuditError where `only` names what is no part.
    """
    if unknown := set(only) - set(parts):
        raise AuditError(f"only: nothing is named {sorted(unknown)[0]!r}; there are {', '.join(parts)}")
    known = read_json(path)[key] if path.exists() else {}
    found = {name: {**known[name], **described(name)} for name in parts if name in known}
    for name in parts:
        is_due = not only and not (name in found and is_current(name, found[name]))
        if force or name in only or is_due:
            found[name] = measure(name)
            write_json({**facts, key: found}, path)
            print(f"{name}: {found[name]['cpu_seconds']} CPU seconds", flush=True)
    write_json({**facts, key: found}, path)
