"""The check that what is published names no file or folder of the machine that made it."""

import re
from collections.abc import Mapping
from typing import Any

from memaudit.common.errors import AuditError

# An absolute path: a home, a drive, a file address, or two folders from the root; not the rest of a web address.
LOCAL = re.compile(r"""(?<![\w.:/~<\\-])(?:~[\w-]*/[\w.-]|file:/|[A-Za-z]:\\[\w.]|\\\\\w|/[\w.-]+/[\w.-])[^\s"'),;]*""")


def refuse_local_paths(value: Any, where: str = "") -> None:
    """Raise AuditError with the place of the first text in `value` that has an absolute path of this machine."""
    if isinstance(value, Mapping):
        for key, one in value.items():
            refuse_local_paths(key, where)
            refuse_local_paths(one, f"{where}/{key}".removeprefix("/"))
    elif isinstance(value, list):
        for place, one in enumerate(value):
            refuse_local_paths(one, f"{where}/{place}")
    elif isinstance(value, str) and (found := LOCAL.search(value)):
        raise AuditError(
            f"publish: {where}: {found.group()!r} is a path of this machine, which nobody else can open; run with "
            "paths relative to the project's folder"
        )
