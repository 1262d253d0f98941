"""Arms of the study `tabpate` in this repository: those that are tuned, and that the page of settings lists."""

from typing import Any

import yaml

from memaudit.common.project_paths import PROJECT


def compared_arms() -> dict[str, dict[str, Any]]:
    """Entries of the arms by name: those of config/config.yaml, as config/tabpate.yaml changes and adds to them."""
    arms: dict[str, dict[str, Any]] = {}
    for name in ("config", "tabpate"):
        section = yaml.safe_load((PROJECT / f"config/{name}.yaml").read_text(encoding="utf-8"))["tabpate"]
        for arm, entry in section["arms"].items():
            arms[arm] = arms.get(arm, {}) | entry
    return arms
