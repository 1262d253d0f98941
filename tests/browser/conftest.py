"""Which page the browser looks at, and where its pictures go."""

import pytest
from workflow.conftest import smoke, warm_environment  # noqa: F401  (fixtures)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--page", help="look at this report, not at one of a fresh smoke run")
    parser.addoption("--screenshots", help="keep the pictures in this folder")
