"""Parsed source files of installed packages; no package is imported.

The contents depend on the package's version, which the lock pins.
"""

import ast
import warnings
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution

import numpy as np

from memaudit.common.errors import AuditError

TESTS = {"test", "tests", "testing", "_test"}


def installed(package: str) -> Distribution:
    """Return an installed package. Raises AuditError if it is not installed."""
    try:
        return distribution(package)
    except PackageNotFoundError as error:
        raise AuditError(f"package {package} is not installed here; choose one of the lock") from error


def parsed_files(package: str, rng: np.random.Generator) -> Iterator[tuple[str, ast.Module]]:
    """Yield path and syntax tree of each of a package's files except tests, in random order.

    Files that this Python cannot parse, such as templates, are skipped.
    """
    listed = installed(package).files or []
    files = sorted(file for file in listed if file.suffix == ".py" and not TESTS & set(file.parts))
    for place in rng.permutation(len(files)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)
            try:
                tree = ast.parse(files[place].locate().read_bytes())
            except SyntaxError:
                continue
        yield str(files[place]), tree
