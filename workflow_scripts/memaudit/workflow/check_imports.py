"""Import modules in the environment that is asked about: standard library only, for it must run where packages lack.

python -m memaudit.workflow.check_imports MODULE ...      those missing or from elsewhere, as JSON
"""

import importlib
import json
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parents[2]


def missing(names: list[str]) -> dict[str, str]:
    """Names that cannot be imported here, each with the reason."""
    found = {}
    for name in names:
        try:
            _load(name)
        except ImportError as error:
            found[name] = str(error)
    return found


def strangers() -> Iterator[tuple[str, str]]:
    """Loaded packages that are neither Python's, nor the project's, nor installed in this environment.

    Snakemake appends its own site-packages to a script's path: a package that the environment lacks is found there.
    """
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if file and "." not in name and not _belongs(Path(file)):
            yield name, f"{name} comes from {file}"


def _belongs(file: Path) -> bool:
    standard = Path(sysconfig.get_path("stdlib"))
    installed = {"site-packages", "dist-packages"}
    if file.is_relative_to(sys.prefix) or file.is_relative_to(SCRIPTS):
        return True
    return file.is_relative_to(standard) and not installed & set(file.relative_to(standard).parts)


def _load(name: str) -> None:
    """Import a module, or find `name` as what its parent holds: `from a import b` does not say which b is."""
    try:
        importlib.import_module(name)
    except ModuleNotFoundError:
        parent, _, attribute = name.rpartition(".")
        if not parent or not hasattr(importlib.import_module(parent), attribute):
            raise


if __name__ == "__main__":
    print(json.dumps(missing(sys.argv[1:]) | dict(strangers())))
