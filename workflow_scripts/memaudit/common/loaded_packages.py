"""The packages that this process has loaded, and those of other environments whose models it has used: for sidecars."""

import sys
from collections.abc import Mapping
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from types import ModuleType

Packages = dict[str, dict[str, str]]  # version and file by name

_ELSEWHERE: dict[str, Packages] = {}


def loaded_packages() -> Packages:
    """Return version and file of every package that is loaded from a site-packages folder and has a version.

    Packages that share a namespace, such as autogluon.tabular, are listed each.
    """
    found = {}
    for name, module in sorted(sys.modules.items()):
        file = (_is_package(name) and getattr(module, "__file__", None)) or ""
        if "site-packages" in file and (known := _version(name, module)):
            found[name] = {"version": known, "file": file}
    return found


def note_elsewhere(environment: str, packages: Mapping[str, Mapping[str, str]]) -> None:
    """Note packages of another environment in which this process has used a model."""
    _ELSEWHERE.setdefault(environment, {}).update({name: dict(facts) for name, facts in packages.items()})


def noted_elsewhere() -> dict[str, Packages]:
    """Return what was noted: packages by environment."""
    return _ELSEWHERE


def _is_package(name: str) -> bool:
    """Whether a module stands at the top, or right below a namespace, which has no file."""
    above = name.rpartition(".")[0]
    return not above or ("." not in above and getattr(sys.modules.get(above), "__file__", None) is None)


def _version(name: str, module: ModuleType) -> str | None:
    """The version that a module states, or that of the distribution of its name: tabicl and tabdpt state none."""
    stated = getattr(module, "__version__", None)
    if isinstance(stated, str):
        return stated
    with suppress(PackageNotFoundError):
        return version(name)
    return None
