"""Marks of tests that need a package which is used as deployed, and its environment."""

import pytest

from memaudit.common.deployed_packages import PACKAGES
from memaudit.gpu_measurements import package_weights
from memaudit.models.package_sessions import interpreter

DEPLOYED = interpreter(PACKAGES["tabdpt"])


def needs(family):
    """Skip a test where the package of a family is not installed, naming what installs it."""
    line = package_weights.missing(family)
    return pytest.mark.skipif(line is not None, reason=str(line))


def write(family, folder, task="classification"):
    """Write small random weights of a family into a folder; returns the folder."""
    return package_weights.write(family, folder, task, small=True)
