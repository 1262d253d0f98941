"""Write envs/*.yaml from requirements.lock: each family of rules gets the exact pins of what it needs.

python -m memaudit.environments
"""

import re
from importlib.metadata import requires
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PROJECT = Path(__file__).resolve().parents[2]
PYTHON, PIP = "3.11.9", "24.0"
BASE = ["numpy", "pandas", "pyarrow", "xarray", "netcdf4"]
FAMILIES = {
    "data": [*BASE, "duckdb", "openml", "requests", "scipy", "scikit-learn", "huggingface_hub"],
    "tabular": [*BASE, "torch", "tabicl", "huggingface_hub", "scikit-learn", "tqdm"],
    "statistics": [*BASE, "scipy", "matplotlib", "pydantic", "pyyaml"],
}


def render(family: str) -> str:
    """The conda environment file of one family, pinned like the lock. KeyError where the lock lacks a package."""
    pins = read_lock()
    lines = [f"      - {pins[name]}" for name in sorted(_closure(FAMILIES[family], pins))]
    head = [
        "# Generated from requirements.lock by `make envs`.",
        "channels: [conda-forge]",
        "dependencies:",
        f"  - python={PYTHON}",
        f"  - pip={PIP}",
        "  - pip:",
    ]
    return "\n".join([*head, *lines]) + "\n"


def read_lock() -> dict[str, str]:
    """Pins of requirements.lock by canonical package name."""
    lines = (PROJECT / "requirements.lock").read_text(encoding="utf-8").split()
    return {canonicalize_name(re.split("==", line)[0]): line for line in lines}


def _closure(names: list[str], pins: dict[str, str]) -> set[str]:
    found: set[str] = set()
    todo = [canonicalize_name(name) for name in names]
    while todo:
        name = todo.pop()
        if name in found:
            continue
        found.add(name)
        needs = [Requirement(text) for text in requires(name) or []]
        todo += [
            canonicalize_name(need.name) for need in needs if not need.marker or need.marker.evaluate({"extra": ""})
        ]
    return {name for name in found if name in pins}


def main() -> None:
    """Write every family's file."""
    for family in FAMILIES:
        (PROJECT / "envs" / f"{family}.yaml").write_text(render(family), encoding="utf-8")


if __name__ == "__main__":
    main()
