"""Audits of what models memorize, of how far such audits can be trusted, and of what private defences cost."""

import os
from importlib import import_module
from typing import Any

# Before anything imports a hub client: only the fetch rules reach the network, and their scripts take this off again.
OFFLINE = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"}
os.environ.update(OFFLINE)


def __getattr__(name: str) -> Any:
    # Named in a text, not imported: no script's digest shall depend on the audit.
    if name == "audit":
        return import_module("memaudit.auditing.api").audit
    raise AttributeError(f"module 'memaudit' has no attribute {name!r}")
