"""The overlay of a rehearsal: every count of a config made smaller by stated rules (config/rehearsal.yaml).

Counts alone change: no list of data sets, models, arms, epsilons or tables gets another length or another name.
"""

from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from memaudit.common.errors import AuditError

Path = tuple[str, ...]
Rules = Mapping[str, Any]


def shrunk(config: Mapping[str, Any], rules: Rules) -> dict[str, Any]:
    """Return the overlay that makes the counts of a config smaller; laid over the config it changes numbers alone.

    rules: pattern of a key path (`tabpate/arms/*/settings/queries`; an element of a list has its number) -> the largest
    value; or {divided_by: d}, where several values must stay apart; or {exactly: n}, for shards, so that a job does
    more; or, for a list of numbers, the new ones: as many, or fewer epochs. The first pattern that matches is used; one
    that ends with ** matches all below. Raises AuditError for a list of another length.
    """
    return {key: new for key, value in config.items() if (new := _shrunk(value, (key,), rules)) is not None}


def unruled(config: Mapping[str, Any], rules: Rules, kept: Sequence[str]) -> list[str]:
    """Return the key paths of whole numbers that neither a rule nor a pattern of those kept as they are speaks of."""
    counts = (path for path, value in _leaves(config, ()) if type(value) is int)
    listed = [path for path in counts if _rule(path, rules) is None and _rule(path[:-1], rules) is None]
    return ["/".join(path) for path in listed if not any(_matches(path, pattern) for pattern in kept)]


def unused(config: Mapping[str, Any], patterns: Sequence[str]) -> list[str]:
    """Return the patterns that speak of no number of a config, nor of a list of numbers."""
    leaves = [path for path, value in _leaves(config, ()) if isinstance(value, int | float)]
    paths = {*leaves, *(path[:-1] for path in leaves)}
    return [pattern for pattern in patterns if not any(_matches(path, pattern) for path in paths)]


def _shrunk(value: Any, path: Path, rules: Rules) -> Any:
    """What stands in the overlay instead of a value; None where it stays."""
    if isinstance(value, Mapping):
        parts = {key: _shrunk(one, (*path, str(key)), rules) for key, one in value.items()}
        return {key: part for key, part in parts.items() if part is not None} or None
    if isinstance(value, list):
        return _shrunk_list(value, path, rules)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    rule = _rule(path, rules)
    if rule is None:
        return None
    if isinstance(rule, Mapping):
        new = rule["exactly"] if "exactly" in rule else value // rule["divided_by"]
    else:
        new = min(value, rule)
    return type(value)(new) if new != value else None


def _shrunk_list(values: list[Any], path: Path, rules: Rules) -> list[Any] | None:
    """A list of as many elements, since an overlay replaces lists as a whole; None where it stays."""
    rule = _rule(path, rules)
    if rule is not None:
        fewer = path[-1] == "epochs" and isinstance(rule, list) and rule
        if not fewer and (not isinstance(rule, list) or len(rule) != len(values)):
            raise AuditError(
                f"{'/'.join(path)}: {len(values)} values, and its rule {rule!r}; give as many in config/rehearsal.yaml"
            )
        return rule
    parts = [_shrunk(one, (*path, str(place)), rules) for place, one in enumerate(values)]
    if all(part is None for part in parts):
        return None
    return [_laid_over(one, part) for one, part in zip(values, parts, strict=True)]


def _laid_over(value: Any, part: Any) -> Any:
    if isinstance(value, Mapping) and part is not None:
        return {key: _laid_over(one, part.get(key)) for key, one in value.items()}
    return value if part is None else part


def _rule(path: Path, rules: Rules) -> Any:
    return next((rule for pattern, rule in rules.items() if _matches(path, pattern)), None)


def _matches(path: Path, pattern: str) -> bool:
    parts = pattern.split("/")
    if parts[-1] == "**":
        parts, path = parts[:-1], path[: len(parts) - 1]
    return len(parts) == len(path) and all(map(fnmatchcase, path, parts))


def _leaves(value: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    """Every value that is neither a mapping nor a list, with its key path."""
    if isinstance(value, Mapping | list):
        for key, one in value.items() if isinstance(value, Mapping) else enumerate(value):
            yield from _leaves(one, (*path, str(key)))
    else:
        yield path, value
