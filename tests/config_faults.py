"""Faults of a config: what is changed in the default one, and the line that the user gets."""

from typing import Any

import pytest

from memaudit.common.errors import AuditError
from memaudit.config.check_config import checked

REMOVE = object()
Cases = list[tuple[dict[str, Any], str]]


def each(cases: Cases) -> pytest.MarkDecorator:
    """Parametrises a test by `changes` (path of a key -> value, or REMOVE) and `line`."""
    return pytest.mark.parametrize(("changes", "line"), cases, ids=[line[:60] for _, line in cases])


def refuses(config: dict[str, Any], changes: dict[str, Any], line: str) -> None:
    """Assert that the changed config ends in one line that holds `line`."""
    for path, value in changes.items():
        *parents, key = path.split("/")
        section = config
        for parent in parents:
            section = section[parent]
        if value is REMOVE:
            del section[key]
        else:
            section[key] = value
    with pytest.raises(AuditError) as caught:
        checked(config)
    assert line in str(caught.value)
    assert "\n" not in str(caught.value)
