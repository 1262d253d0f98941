"""Options of a family of models, from the `options` of an entry in the catalogue."""

from collections.abc import Mapping
from typing import Any

from memaudit.common.errors import AuditError


def options_of(card: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """Return the defaults updated by the card. Raises AuditError for an unknown name, or a value of another type."""
    for name, value in card["options"].items():
        if name not in defaults:
            raise AuditError(f"{card['name']}: unknown option {name!r}; known: {', '.join(defaults)}")
        if type(value) is not type(defaults[name]):
            raise AuditError(f"{card['name']}: option {name} must be like {defaults[name]!r}; it is {value!r}")
    return {**defaults, **card["options"]}
